import { ArrowUpDown, History, type LucideIcon, Minus, PencilLine, Plus, Route, Split, Tag } from 'lucide-react'
import styles from './change-mark.module.css'

/**
 * How a step or a connection differs between two definitions; `was` and `now` are the ways of a run through the earlier
 * and the later one.
 */
export type Mark = 'added' | 'removed' | 'changed' | 'moved' | 'renamed' | 'elsewhere' | 'was' | 'now'

export const MARKS = {
  added: { icon: Plus, word: 'Added' },
  removed: { icon: Minus, word: 'Removed' },
  changed: { icon: PencilLine, word: 'Changed' },
  moved: { icon: ArrowUpDown, word: 'Moved' },
  renamed: { icon: Tag, word: 'Renamed' },
  elsewhere: { icon: Split, word: 'Leads elsewhere' },
  was: { icon: History, word: 'Before' },
  now: { icon: Route, word: 'Now' },
} as const satisfies Record<Mark, { icon: LucideIcon; word: string }>

/** The sign of a difference. A word always stands beside it. */
export function ChangeMark({ mark }: { mark: Mark }) {
  const Icon = MARKS[mark].icon
  return <Icon size={14} className={styles[mark]} aria-hidden />
}
