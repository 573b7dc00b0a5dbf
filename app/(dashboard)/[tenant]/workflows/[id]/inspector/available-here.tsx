'use client'
import { Text, UnstyledButton } from '@mantine/core'
import type { ComponentProps } from 'react'
import { useScope } from '../widgets/scope-context'
import { ScopeEntryLine } from '../widgets/scope-entry'
import styles from './inspector.module.css'
import { ValuesSourceSelect } from './values-source'

/**
 * Every value that `${…}` can refer to in this step. A click inserts it into the last used field, or copies it if the
 * step is read-only.
 */
export function AvailableHere(props: {
  readOnly: boolean
  announce: (text: string, visible?: boolean) => void
  of: ComponentProps<typeof ValuesSourceSelect>
  /** The values are still being read. */
  pending: boolean
}) {
  const { readOnly, announce, of, pending } = props
  const { entries, values, open, target } = useScope()

  function insert(name: string) {
    if (target.current && !readOnly) {
      target.current.insert(name)
      return
    }
    navigator.clipboard
      .writeText(`\${${name}}`)
      .then(() => announce(`\${${name}} copied.`, true))
      .catch(() => announce('Click a field first.', true))
  }

  return (
    <section className={styles.section} aria-label="Available here">
      <h3 className={styles.heading}>Available here</h3>
      <Text size="xs" c="dimmed" mb="xs">
        Run data: what the run started with, and what the steps before this one have given.
      </Text>
      <ValuesSourceSelect {...of} />
      {values === null && !pending && (
        <Text size="xs" c="dimmed" mb="xs">
          There are no values to show. Choose sample values to see what expressions give.
        </Text>
      )}
      <ul className={styles.list}>
        {entries
          .filter(({ only, repeats }) => only === undefined && !repeats)
          .map((entry) => (
            <li key={entry.name}>
              <UnstyledButton
                className={styles.insert}
                aria-label={`${readOnly ? 'Copy' : 'Insert'} ${entry.name}`}
                // Leaves the caret in the field.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => insert(entry.name)}
              >
                <ScopeEntryLine entry={entry} />
              </UnstyledButton>
            </li>
          ))}
      </ul>
      {open && (
        <Text size="xs" c="dimmed">
          Earlier steps may add more fields.
        </Text>
      )}
    </section>
  )
}
