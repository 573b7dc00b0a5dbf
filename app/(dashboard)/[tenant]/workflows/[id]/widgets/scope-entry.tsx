'use client'
import { Badge } from '@mantine/core'
import { type ScopeEntry, useScope } from './scope-context'
import styles from './scope-entry.module.css'

/** A name available here: its type, source and last value, and whether it may be missing. */
export function ScopeEntryLine({ entry }: { entry: ScopeEntry }) {
  const { labelOf } = useScope()
  return (
    <span className={styles.entry}>
      <span className={styles.head}>
        <span className={`mono ${styles.name}`}>{`\${${entry.name}}`}</span>
        <span className={styles.type}>{entry.type}</span>
        {entry.maybe && (
          <Badge size="xs" variant="light" color="yellow" className={styles.maybe ?? ''}>
            may be missing
          </Badge>
        )}
      </span>
      <span className={styles.origin}>
        {originOf(entry, labelOf)}
        {entry.description && entry.from !== 'run' && ` · ${entry.description}`}
        {entry.last !== null && (
          <>
            {' · '}
            <span className={`mono ${styles.last}`}>{entry.last}</span>
          </>
        )}
      </span>
    </span>
  )
}

/** Where a value comes from, such as `from START`. */
export function originOf(entry: ScopeEntry, labelOf: (stepId: string) => string): string {
  if (entry.from === 'run') return 'all run data'
  if (entry.from === 'start') return 'from START'
  return `from ${entry.stepId === undefined || entry.stepId === null ? 'a step' : labelOf(entry.stepId)}`
}
