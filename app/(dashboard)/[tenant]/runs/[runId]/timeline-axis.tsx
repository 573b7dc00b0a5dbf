'use client'
import { absoluteTime, durationText, useTimeZone } from '@/app/_ui/time-text'
import styles from './timeline.module.css'
import type { Axis } from './timeline-model'

/** The time range of the bars, and the long waits that are left out. */
export function TimelineAxis({ began, axis }: { began: number; axis: Axis }) {
  const [zone] = useTimeZone()
  return (
    <div className={styles.axis} aria-hidden>
      <span className={styles.axisLead} suppressHydrationWarning>
        {absoluteTime(new Date(began), zone, true)}, {durationText(axis.end)} in all
      </span>
      <div className={styles.axisTrack}>
        {axis.breaks.map(({ at, ms }) => (
          <span
            key={at}
            className={styles.break}
            style={{ left: `${at * 100}%` }}
            title={`${durationText(ms)} of waiting`}
          >
            {durationText(ms)}
          </span>
        ))}
      </div>
    </div>
  )
}
