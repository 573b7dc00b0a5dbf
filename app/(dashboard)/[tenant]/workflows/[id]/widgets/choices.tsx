'use client'
import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { JsonValue } from '@/server/definition/json'
import { type Choice, changeChoice, choiceProblem, choicesOf, writtenChoices } from './choice-rows'
import { FieldFrame } from './field-frame'
import { AddRow, RowTools } from './row-tools'
import { newRow, type Row, useRows } from './use-rows'
import type { WidgetProps } from './widget'
import styles from './widgets.module.css'

/** The entries of a list that makes exits, each with a label and an id. */
export function Choices(
  props: WidgetProps & {
    /** The noun for an entry, such as "action". */
    noun: string
    problemOf: (id: string) => string | null
    create: (rows: readonly Row<Choice>[]) => Choice
    /** More controls of an entry. */
    more?: (row: Row<Choice>, rowLabel: string, change: (part: Partial<Pick<Choice, 'rest'>>) => void) => ReactNode
  },
) {
  const { field, value, onChange, problem, readOnly, noun, problemOf, create, more } = props
  const { rows, setRows } = useRows<Choice, JsonValue>({
    value: Array.isArray(value) ? value : [],
    read: choicesOf,
    write: writtenChoices,
    onChange,
  })
  const change = (key: number, part: Partial<Pick<Choice, 'id' | 'label' | 'rest'>>) =>
    setRows(changeChoice(rows, key, part, problemOf))
  return (
    <FieldFrame field={field} problem={problem}>
      {rows.length > 0 && (
        // Each field has its own accessible name.
        <div className={`${styles.pair} ${styles.heads}`} aria-hidden>
          <span>Label</span>
          <span>Id</span>
        </div>
      )}
      {rows.map((row, index) => {
        const rowLabel = row.label || row.id || `${noun} ${index + 1}`
        return (
          <div key={row.key} className={styles.row}>
            <div className={styles.pair}>
              <TextInput
                size="xs"
                aria-label={`Label of ${rowLabel}`}
                placeholder="Label"
                value={row.label}
                readOnly={readOnly}
                onChange={(event) => change(row.key, { label: event.currentTarget.value })}
              />
              <TextInput
                size="xs"
                aria-label={`Id of ${rowLabel}`}
                placeholder="id"
                value={row.id}
                error={
                  row.id === '' && row.kept !== '' ? 'Enter an id' : choiceProblem(rows, row.key, row.id, problemOf)
                }
                readOnly={readOnly}
                onChange={(event) => change(row.key, { id: event.currentTarget.value })}
              />
            </div>
            {more?.(row, rowLabel, (part) => change(row.key, part))}
            {!readOnly && <RowTools rowLabel={rowLabel} rows={rows} index={index} setRows={setRows} />}
          </div>
        )
      })}
      {!readOnly && <AddRow onClick={() => setRows([...rows, newRow<Choice>(create(rows))])}>Add {noun}</AddRow>}
    </FieldFrame>
  )
}
