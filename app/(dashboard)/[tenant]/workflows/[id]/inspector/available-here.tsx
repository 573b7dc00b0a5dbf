'use client'
import { Text, UnstyledButton } from '@mantine/core'
import { useScope } from '../widgets/scope-context'
import { ScopeEntryLine } from '../widgets/scope-entry'
import styles from './inspector.module.css'

/** Everything that `${…}` can name in this step; a click puts it into the field that was typed into last. */
export function AvailableHere(props: { readOnly: boolean; announce: (text: string, visible?: boolean) => void }) {
  const { readOnly, announce } = props
  const { entries, open, target } = useScope()

  function take(name: string) {
    if (target.current && !readOnly) {
      target.current.insert(name)
      return
    }
    navigator.clipboard
      .writeText(`\${${name}}`)
      .then(() => announce(`\${${name}} copied.`, true))
      .catch(() => announce('Choose a field first.', true))
  }

  return (
    <section className={styles.section} aria-label="Available here">
      <h3 className={styles.heading}>Available here</h3>
      <ul className={styles.list}>
        {entries.map((entry) => (
          <li key={entry.name}>
            <UnstyledButton
              className={styles.insert}
              aria-label={`Insert ${entry.name}`}
              // The field keeps its caret.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(entry.name)}
            >
              <ScopeEntryLine entry={entry} />
            </UnstyledButton>
          </li>
        ))}
      </ul>
      {open && (
        <Text size="xs" c="dimmed">
          An earlier step may give other fields, too.
        </Text>
      )}
    </section>
  )
}
