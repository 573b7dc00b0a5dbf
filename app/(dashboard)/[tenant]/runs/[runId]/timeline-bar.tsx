import styles from './timeline.module.css'
import type { Axis } from './timeline-model'

/** A stretch of time in a line of the timeline. */
export function Bar({
  axis,
  from,
  to,
  kind,
  failed,
  title,
}: {
  axis: Axis
  from: number
  to: number
  kind: string
  failed: boolean
  title?: string
}) {
  const left = axis.place(from)
  return (
    <span
      className={styles.bar}
      data-kind={kind}
      data-failed={failed || undefined}
      style={{ left: `${left * 100}%`, width: `${Math.max(0, axis.place(to) - left) * 100}%` }}
      title={title}
    />
  )
}
