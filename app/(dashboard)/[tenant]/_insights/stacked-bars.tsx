'use client'
import { ChartTable } from './chart-table'
import styles from './insights.module.css'
import { dayText } from './period'

const WIDTH = 600
const HEIGHT = 160

/** One colour of the bars: a value for each day. */
export interface Series {
  key: string
  label: string
  colour: string | undefined
  values: number[]
}

export function StackedBars(props: {
  caption: string
  days: readonly { day: string }[]
  series: readonly Series[]
  format: (value: number) => string
  /** Describes the bars for people who cannot see them: the sum and the highest value. */
  say: (all: string, most: string) => string
}) {
  const { caption, days, series, format, say } = props
  const totals = days.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const highest = Math.max(0, ...totals)
  const step = WIDTH / Math.max(1, days.length)
  const all = totals.reduce((sum, total) => sum + total, 0)
  return (
    <figure className={styles.figure}>
      <div className={styles.tick} aria-hidden>
        {format(highest)}
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 1}`}
        className={styles.svg}
        role="img"
        aria-label={say(format(all), format(highest))}
      >
        <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className={styles.axis} />
        {days.map(({ day }, index) => {
          let top = HEIGHT
          const shown = series.map(({ label, values }) => `${label} ${format(values[index] ?? 0)}`)
          return (
            <g key={day}>
              {series.map(({ key, colour, values }) => {
                const height = highest === 0 ? 0 : ((values[index] ?? 0) / highest) * HEIGHT
                top -= height
                return (
                  <rect
                    key={key}
                    x={index * step + step * 0.12}
                    y={top}
                    width={step * 0.76}
                    height={height}
                    className={colour}
                  />
                )
              })}
              <title>{`${dayText(day)}: ${shown.join(', ')}`}</title>
              {/* Catches the pointer over the whole day. */}
              <rect x={index * step} y={0} width={step} height={HEIGHT} className={styles.catcher} />
            </g>
          )
        })}
      </svg>
      <DayTicks days={days} />
      <Legend lines={series} />
      <ChartTable
        caption={caption}
        columns={['Day', ...series.map(({ label }) => label)]}
        rows={days.map(({ day }, index) => [dayText(day), ...series.map(({ values }) => format(values[index] ?? 0))])}
      />
    </figure>
  )
}

export function Legend({ lines }: { lines: readonly Pick<Series, 'key' | 'label' | 'colour'>[] }) {
  return (
    <ul className={styles.legend}>
      {lines.map(({ key, label, colour }) => (
        <li key={key}>
          <span className={`${styles.dot} ${colour}`} aria-hidden /> {label}
        </li>
      ))}
    </ul>
  )
}

/** The first and the last day, below a chart. Not inside it, which would shrink them. */
export function DayTicks({ days }: { days: readonly { day: string }[] }) {
  const [first, last] = [days[0], days.at(-1)]
  return (
    <div className={`${styles.tick} ${styles.ends}`} aria-hidden>
      <span>{first && dayText(first.day)}</span>
      <span>{last && dayText(last.day)}</span>
    </div>
  )
}
