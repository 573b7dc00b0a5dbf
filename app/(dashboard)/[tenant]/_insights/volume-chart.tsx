'use client'
import type { Insights } from '@/server/views/insights/read'
import { ChartTable } from './chart-table'
import styles from './insights.module.css'
import { dayText } from './period'

const WIDTH = 600
const HEIGHT = 160
const KINDS = [
  { key: 'succeeded', label: 'Succeeded' },
  { key: 'failed', label: 'Failed' },
  { key: 'stopped', label: 'Cancelled or terminated' },
] as const

/** One stacked bar for each day. */
export function VolumeChart({ days }: { days: Insights['days'] }) {
  const totals = days.map(({ succeeded, failed, stopped }) => succeeded + failed + stopped)
  const most = Math.max(1, ...totals)
  const step = WIDTH / Math.max(1, days.length)
  const all = totals.reduce((sum, total) => sum + total, 0)
  return (
    <figure className={styles.figure}>
      <div className={styles.tick} aria-hidden>
        {most.toLocaleString('en')}
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 1}`}
        className={styles.svg}
        role="img"
        aria-label={`${all.toLocaleString('en')} runs ended; the busiest day had ${most.toLocaleString('en')}`}
      >
        <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className={styles.axis} />
        {days.map((day, index) => {
          let top = HEIGHT
          return (
            <g key={day.day}>
              {KINDS.map(({ key }) => {
                const height = (day[key] / most) * HEIGHT
                top -= height
                return (
                  <rect
                    key={key}
                    x={index * step + step * 0.12}
                    y={top}
                    width={step * 0.76}
                    height={height}
                    className={styles[key]}
                  />
                )
              })}
              <title>{`${dayText(day.day)}: ${KINDS.map(({ key, label }) => `${label} ${day[key]}`).join(', ')}`}</title>
              {/* Catches the pointer over the whole day. */}
              <rect x={index * step} y={0} width={step} height={HEIGHT} fill="transparent" />
            </g>
          )
        })}
      </svg>
      <DayTicks days={days} />
      <ul className={styles.legend}>
        {KINDS.map(({ key, label }) => (
          <li key={key}>
            <span className={`${styles.dot} ${styles[key]}`} aria-hidden /> {label}
          </li>
        ))}
      </ul>
      <ChartTable
        caption="Runs that ended each day"
        columns={['Day', ...KINDS.map(({ label }) => label)]}
        rows={days.map((day) => [dayText(day.day), ...KINDS.map(({ key }) => String(day[key]))])}
      />
    </figure>
  )
}

/** The first and the last day, below a chart. Not inside it, where they would shrink with it. */
export function DayTicks({ days }: { days: readonly { day: string }[] }) {
  const [first, last] = [days[0], days.at(-1)]
  return (
    <div className={`${styles.tick} ${styles.ends}`} aria-hidden>
      <span>{first && dayText(first.day)}</span>
      <span>{last && dayText(last.day)}</span>
    </div>
  )
}
