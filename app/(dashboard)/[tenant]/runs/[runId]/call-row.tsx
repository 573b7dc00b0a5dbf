import { durationText } from '@/app/_ui/time-text'
import { CALL_ICONS, callFigures } from '../../_calls/call-text'
import styles from './timeline.module.css'
import { Bar } from './timeline-bar'
import type { Axis } from './timeline-model'
import type { Line } from './timeline-tree'

/** A call of an agent: what was called, its tokens and cost, and its time. */
export function CallRow({
  line: { key, call },
  axis,
  selected,
  onSelect,
}: {
  line: Extract<Line, { kind: 'call' }>
  axis: Axis
  selected: boolean
  onSelect: (key: string) => void
}) {
  const Icon = CALL_ICONS[call.kind]
  const [name, figures, took] = [call.title, callFigures(call), durationText(call.end - call.start)]
  const said = [name, ...(call.failed ? ['failed'] : []), ...(figures ? [figures] : []), took]
  return (
    <button
      type="button"
      data-line
      className={styles.row}
      aria-current={selected || undefined}
      aria-label={said.join(', ')}
      onClick={() => onSelect(key)}
    >
      <span className={`${styles.name} ${styles.inset}`}>
        <span className={styles.chevronPlace} />
        <Icon size={15} className={call.failed ? styles.failed : styles.quiet} aria-hidden />
        <span className={styles.callName}>{name}</span>
        {call.failed && <b className={styles.failedText}>failed</b>}
        {figures && (
          <span className={styles.quietText} title={figures}>
            {figures}
          </span>
        )}
      </span>
      <span className={styles.took}>{took}</span>
      <span className={styles.track}>
        <Bar axis={axis} from={call.start} to={call.end} kind="call" failed={call.failed} />
      </span>
    </button>
  )
}
