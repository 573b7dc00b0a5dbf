'use client'
import { TextInput } from '@mantine/core'
import type { JsonObject } from '@/server/definition/json'
import { nameProblem } from '../model/definition'
import { isObject } from '../model/json-text'
import { ExpressionInput } from './expression-input'
import { expressionProblem } from './expression-widget'
import { FieldFrame } from './field-frame'
import { JsonWidget } from './json-widget'
import { AddRow, RowTools } from './row-tools'
import { newRow, type Row, useRows } from './use-rows'
import type { WidgetProps } from './widget'
import styles from './widgets.module.css'

interface Entry {
  name: string
  text: string
}

/** Names, each with an expression. */
export function ExpressionsWidget(props: WidgetProps) {
  const { field, value, problem, readOnly, onChange } = props
  const readable = value === undefined || (isObject(value) && Object.values(value).every(isText))
  const { rows, setRows } = useRows<Entry, JsonObject>({
    value: isObject(value) ? value : {},
    read: (map) => Object.entries(map).map(([name, text]) => ({ name, text: String(text) })),
    write: writtenOf,
    onChange: (next) => onChange(Object.keys(next).length === 0 && !field.required ? undefined : next),
  })
  if (!readable) return <JsonWidget {...props} />
  const change = (key: number, part: Partial<Entry>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  return (
    <FieldFrame field={field} problem={problem} gap="sm">
      {rows.map((row, index) => {
        const rowLabel = row.name || `expression ${index + 1}`
        return (
          <div key={row.key} className={styles.row}>
            <TextInput
              size="xs"
              aria-label={`Name of ${rowLabel}`}
              placeholder="name"
              value={row.name}
              error={rowProblem(rows, row)}
              readOnly={readOnly}
              onChange={(event) => change(row.key, { name: event.currentTarget.value })}
            />
            <ExpressionInput
              name={`Expression of ${rowLabel}`}
              code
              placeholder="${price} * ${quantity}"
              value={row.text}
              error={expressionProblem(row.text)}
              onChange={(text) => change(row.key, { text })}
              readOnly={readOnly}
            />
            {!readOnly && <RowTools rowLabel={rowLabel} rows={rows} index={index} setRows={setRows} />}
          </div>
        )
      })}
      {!readOnly && (
        <AddRow onClick={() => setRows([...rows, newRow<Entry>({ name: '', text: '' })])}>Add expression</AddRow>
      )}
    </FieldFrame>
  )
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Leaves out rows that cannot be stored yet. */
function writtenOf(rows: readonly Row<Entry>[]): JsonObject {
  const kept = rows.filter((row) => row.name !== '' && rowProblem(rows, row) === null)
  return Object.fromEntries(kept.map(({ name, text }) => [name, text]))
}

function rowProblem(rows: readonly Row<Entry>[], row: Row<Entry>): string | null {
  if (row.name === '') return row.text === '' ? null : 'Enter a name'
  if (rows.find(({ name }) => name === row.name)?.key !== row.key) return 'Another expression has this name'
  return nameProblem(row.name)
}
