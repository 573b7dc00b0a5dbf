import {
  Archive,
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleX,
  LoaderCircle,
  type LucideIcon,
  OctagonX,
  PencilLine,
  Radio,
  TriangleAlert,
} from 'lucide-react'
import styles from './status-pill.module.css'
import motion from './turning.module.css'

type Tone = 'running' | 'paused' | 'completed' | 'failed' | 'cancelled'

const PILLS = {
  running: { text: 'Running', tone: 'running', icon: LoaderCircle },
  cancelling: { text: 'Cancelling', tone: 'cancelled', icon: LoaderCircle },
  paused: { text: 'Waiting', tone: 'paused', icon: CirclePause },
  completed: { text: 'Completed', tone: 'completed', icon: CircleCheck },
  failed: { text: 'Failed', tone: 'failed', icon: CircleX },
  timed_out: { text: 'Timed out', tone: 'failed', icon: CircleX },
  cancelled: { text: 'Cancelled', tone: 'cancelled', icon: Ban },
  terminated: { text: 'Terminated', tone: 'cancelled', icon: OctagonX },
  queued: { text: 'Queued', tone: 'cancelled', icon: CircleDashed },
  draft: { text: 'Draft', tone: 'cancelled', icon: PencilLine },
  published: { text: 'Published', tone: 'completed', icon: Radio },
  archived: { text: 'Archived', tone: 'cancelled', icon: Archive },
  enabled: { text: 'Enabled', tone: 'completed', icon: CircleCheck },
  unbound: { text: 'Not bound to hosts', tone: 'paused', icon: TriangleAlert },
  guessable: { text: 'Too short', tone: 'paused', icon: TriangleAlert },
  disabled: { text: 'Disabled', tone: 'cancelled', icon: Ban },
} as const satisfies Record<string, { text: string; tone: Tone; icon: LucideIcon }>

export type PillStatus = keyof typeof PILLS

/** A status's word, for texts. */
export function pillText(status: PillStatus): string {
  return PILLS[status].text
}

/**
 * Shows a state as an icon, a word and a colour, so that none of them has to suffice alone.
 * @param props.brief the icon alone, on phones or always: screen readers still read the word, and hovering shows it
 */
export function StatusPill(props: { status: PillStatus; label?: string; brief?: 'on phones' | 'always' | undefined }) {
  const { status, label, brief } = props
  const { text, tone, icon: Icon } = PILLS[status]
  return (
    <span
      className={`${styles.pill} ${styles[tone]} ${brief ? styles.brief : ''}`}
      data-brief={brief}
      title={brief === 'always' ? (label ?? text) : undefined}
    >
      <Icon size={14} aria-hidden className={Icon === LoaderCircle ? motion.turning : undefined} />
      {brief ? (
        <span className={brief === 'always' ? 'visually-hidden' : undefined}>{label ?? text}</span>
      ) : (
        (label ?? text)
      )}
    </span>
  )
}

/** A pill without its background, for tight places. */
export function StatusMark({ status, label }: { status: PillStatus; label?: string }) {
  const { text, tone, icon: Icon } = PILLS[status]
  return (
    <span className={`${styles.mark} ${styles[tone]}`}>
      <Icon size={12} aria-hidden className={Icon === LoaderCircle ? motion.turning : undefined} />
      {label ?? text}
    </span>
  )
}

/** The pill of a run: its outcome once it has one, otherwise its status. */
export function runPill(run: { status: string; outcome: string | null; cancelling?: boolean }): PillStatus {
  if (run.outcome === 'cancelled' || run.outcome === 'terminated' || run.outcome === 'timed_out') return run.outcome
  if (run.cancelling && run.outcome === null) return 'cancelling'
  return run.status in PILLS ? (run.status as PillStatus) : 'queued'
}
