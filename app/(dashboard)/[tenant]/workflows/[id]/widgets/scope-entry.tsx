'use client'
import { Badge } from '@mantine/core'
import type { ScopeEntry } from './scope-context'
import styles from './scope-entry.module.css'

/** A name available here: its type, source and last value, and whether it may be missing. */
export function ScopeEntryLine({ entry }: { entry: ScopeEntry }) {
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
        {originOf(entry)}
        {entry.description && entry.from !== 'run' && ` · ${entry.description}`}
        {entry.last !== null && (
          <>
            {' · last '}
            <span className="mono">{entry.last}</span>
          </>
        )}
      </span>
    </span>
  )
}

function originOf(entry: ScopeEntry): string {
  if (entry.from === 'run') return 'all run data'
  return entry.from === 'start' ? 'from START' : `from ${entry.stepId ?? 'a step'}`
}
