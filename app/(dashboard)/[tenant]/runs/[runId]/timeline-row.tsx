import {
  ArrowRightLeft,
  Ban,
  Braces,
  CalendarX2,
  ChevronRight,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleSlash,
  CircleX,
  Flag,
  LoaderCircle,
  Play,
} from 'lucide-react'
import { memo } from 'react'
import { Clock } from '@/app/_ui/time'
import { durationText, passedText } from '@/app/_ui/time-text'
import type { ShownMove } from '@/server/views/runs/moves'
import { betweenVersions } from './story'
import styles from './timeline.module.css'
import { Bar } from './timeline-bar'
import { type Axis, type Segment, stateOf, type Visit, wordOf } from './timeline-model'

export const ICONS = {
  queued: { icon: CircleDashed, word: 'queued' },
  running: { icon: LoaderCircle, word: 'running' },
  paused: { icon: CirclePause, word: 'waiting' },
  completed: { icon: CircleCheck, word: 'completed' },
  failed: { icon: CircleX, word: 'failed' },
  timed_out: { icon: CalendarX2, word: 'timed out' },
  stopped: { icon: CircleSlash, word: 'stopped' },
} as const

/** One visit: its step, its state, and a bar that divides up its time. */
export const VisitRow = memo(function VisitRow({
  visit,
  where,
  inset,
  axis,
  selected,
  onSelect,
}: {
  visit: Visit
  /** The branch it is in, where the list does not show that. */
  where: string | null
  /** It is in a branch. */
  inset: boolean
  axis: Axis
  selected: boolean
  onSelect: (key: string) => void
}) {
  const state = stateOf(visit)
  const { icon: Icon, word: said } = ICONS[state]
  const took = visit.end === null ? passedText(axis.end - visit.start) : durationText(visit.end - visit.start)
  const attempts = visit.attempts > 1 ? `, ${visit.attempts} attempts` : ''
  const again = `${where ? `, ${where}` : ''}${visit.visit > 1 ? `, visit ${visit.visit}` : ''}`
  // A completed fork has decided nothing.
  const exit = visit.fork && visit.status === 'completed' ? null : visit.exitLabel
  return (
    <button
      type="button"
      data-line
      className={styles.row}
      aria-current={selected || undefined}
      aria-label={`${visit.name}${again}, ${said}${exit === null ? '' : `, exit ${exit}`}${attempts}, ${took}`}
      onClick={() => onSelect(visit.key)}
    >
      <span className={`${styles.name} ${styles.inset}`}>
        {(visit.fork || inset) && <span className={styles.chevronPlace} />}
        <Icon size={15} className={styles[state]} aria-hidden />
        <span className={styles.nameText}>{visit.name}</span>
        {visit.branch === 'on-cancel' && <Ban size={13} className={styles.quiet} aria-hidden />}
        {exit !== null && (
          <span className={styles.quietText} title={`Exit: ${exit}`}>
            → {exit}
          </span>
        )}
        {where && <span className={styles.quietText}>{where}</span>}
        {visit.visit > 1 && <span className={styles.quiet}>#{visit.visit}</span>}
        {visit.attempts > 1 && <span className={styles.times}>×{visit.attempts}</span>}
      </span>
      <span className={styles.took}>{visit.carried ? 'earlier' : took}</span>
      <span className={styles.track}>
        {!visit.carried &&
          barsOf(visit).map(({ kind, from, to, attempt, failed, word }) => {
            const what = attempt === null ? word : `attempt ${attempt}${failed ? ', failed' : ''},`
            const title = `${what} ${to === null ? passedText(axis.end - from) : durationText(to - from)}`
            return <Bar key={`${kind}${from}`} {...{ axis, from, to: to ?? axis.end, kind, failed, title }} />
          })}
      </span>
    </button>
  )
})

/** A visit's bars. Each of several attempts has its own bar, and all but the last have failed. */
function barsOf(visit: Visit): (Segment & { attempt: number | null; failed: boolean; word: string })[] {
  const { segments, attempts, status } = visit
  // After a part of an attempt, people are asked.
  const isTry = ({ kind }: Segment, index: number) => kind === 'running' && segments[index + 1]?.kind !== 'waiting'
  const tries = segments.filter(isTry).length
  let attempt = Math.max(0, attempts - tries)
  return segments.map((segment, index) => {
    const word = wordOf(visit, segment)
    if (!isTry(segment, index)) return { ...segment, attempt: null, failed: false, word }
    attempt++
    // If the last attempt has ended and the visit has not, that attempt has failed too, and the next one is due.
    const failed = attempt < attempts || status === 'failed' || (status === 'running' && segment.to !== null)
    return { ...segment, attempt: attempts > 1 ? attempt : null, failed, word }
  })
}

/** The run's input, its result, or its data when it ended: a run that was stopped or failed has reached no end. */
export function BoundaryRow({
  which,
  ending,
  selected,
  onSelect,
}: {
  which: string
  ending: string | null
  selected: boolean
  onSelect: (key: string) => void
}) {
  const start = which === '(start)'
  const Icon = start ? Play : ending === null ? Braces : Flag
  return (
    <button
      type="button"
      data-line
      className={styles.row}
      aria-current={selected || undefined}
      onClick={() => onSelect(which)}
    >
      <span className={styles.name}>
        <Icon size={15} className={styles.quiet} aria-hidden />
        <span className={styles.nameText}>{start ? 'Start' : (ending ?? 'Data when it ended')}</span>
      </span>
    </button>
  )
}

/** The run was moved to another version between the visits around it. */
export function MoveRow({ move }: { move: ShownMove }) {
  const { askedAgain } = move
  const again = askedAgain.length === 0 ? '' : `, ${askedAgain.join(', ')} asked again`
  const text = `Moved ${betweenVersions(move)} by ${move.by?.name ?? 'someone'}${again}`
  return (
    <p className={styles.move} title={text}>
      <ArrowRightLeft size={15} aria-hidden />
      <span className={styles.nameText}>{text}</span>
      <Clock at={move.at} />
    </p>
  )
}

export function Chevron({ open }: { open: boolean }) {
  return <ChevronRight size={15} className={styles.chevron} data-open={open || undefined} aria-hidden />
}

/** Opens and closes a step's branches, next to the step's own button. */
export function Toggle({ open, label, onToggle }: { open: boolean; label: string; onToggle: () => void }) {
  return (
    <button type="button" className={styles.toggle} aria-expanded={open} aria-label={label} onClick={onToggle}>
      <Chevron open={open} />
    </button>
  )
}
