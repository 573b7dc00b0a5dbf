'use client'
import { durationText } from '@/app/_ui/time-text'
import { ChartTable } from './chart-table'
import { durationScale } from './duration-scale'
import styles from './insights.module.css'
import { dayText } from './period'
import { DayTicks, Legend } from './stacked-bars'

const WIDTH = 600
const HEIGHT = 160
/** The highest and the lowest line of the scale, with room for half a dot or label. */
const TOP = 6
const BOTTOM = HEIGHT - 6
const LINES = [
  { key: 'p95', label: '95% within', colour: styles.p95 },
  { key: 'p50', label: 'Half within', colour: styles.p50 },
] as const

/** Two lines on a logarithmic scale, because the slowest runs take many times as long as the others. */
export function DurationChart(props: {
  caption: string
  days: readonly { day: string; p50: number | null; p95: number | null }[]
  /** Several workflows: their common median means nothing, so only the 95% line is shown. */
  mixed?: boolean
  /** Texts for one day without values and for none at all. */
  none: string
  empty: string
}) {
  const { caption, days, mixed = false, none, empty } = props
  const lines = LINES.filter(({ key }) => !(mixed && key === 'p50'))
  const known = days.flatMap((day) => lines.map(({ key }) => day[key]).filter((ms) => ms !== null))
  if (known.length === 0) return <p className={styles.note}>{empty}</p>
  const scale = durationScale(known)
  const step = WIDTH / Math.max(1, days.length)
  const x = (index: number) => (index + 0.5) * step
  const y = (ms: number) => BOTTOM - scale.at(ms) * (BOTTOM - TOP)
  const lowest = lines.at(-1) ?? LINES[0]
  const last = days.findLast((day) => day[lowest.key] !== null)
  return (
    <figure className={styles.figure}>
      <div className={`${styles.tick} ${styles.kind}`} aria-hidden>
        Logarithmic scale
      </div>
      <div className={styles.scaled}>
        <div className={styles.scale} aria-hidden>
          {scale.lines.map(({ at, text }) => (
            <span key={text} style={{ top: `${((BOTTOM - at * (BOTTOM - TOP)) / HEIGHT) * 100}%` }}>
              {text}
            </span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          className={styles.svg}
          role="img"
          aria-label={`Durations between ${durationText(Math.min(...known))} and ${durationText(Math.max(...known))}${
            last ? `; on ${dayText(last.day)} ${lowest.label.toLowerCase()} ${durationText(last[lowest.key] ?? 0)}` : ''
          }`}
        >
          {scale.lines.map(({ at, text }) => {
            const height = BOTTOM - at * (BOTTOM - TOP)
            return <line key={text} x1={0} x2={WIDTH} y1={height} y2={height} className={styles.gridLine} />
          })}
          {lines.map(({ key }) => (
            <g key={key} className={styles[key]}>
              {/* A day without runs leaves a gap. */}
              {pathsOf(days.map((day, index) => (day[key] === null ? null : [x(index), y(day[key])]))).map((points) => (
                <polyline key={points} points={points} fill="none" strokeWidth={2} strokeLinejoin="round" />
              ))}
              {days.map((day, index) =>
                day[key] === null ? null : (
                  <circle key={day.day} cx={x(index)} cy={y(day[key])} r={days.length > 31 ? 1.5 : 3}>
                    <title>{`${dayText(day.day)}: ${durationText(day[key])}`}</title>
                  </circle>
                ),
              )}
            </g>
          ))}
        </svg>
      </div>
      <div className={styles.underScale}>
        <DayTicks days={days} />
      </div>
      <Legend lines={lines} />
      <ChartTable
        caption={caption}
        columns={['Day', ...lines.map(({ label }) => label)]}
        rows={days.map((day) => [
          dayText(day.day),
          ...lines.map(({ key }) => (day[key] === null ? none : durationText(day[key]))),
        ])}
      />
    </figure>
  )
}

function pathsOf(points: ([number, number] | null)[]): string[] {
  const paths: string[][] = [[]]
  for (const point of points) {
    if (point === null) paths.push([])
    else paths.at(-1)?.push(point.map((value) => value.toFixed(1)).join())
  }
  return paths.filter((path) => path.length > 1).map((path) => path.join(' '))
}
