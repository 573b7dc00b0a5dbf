'use client'
import { Group, SegmentedControl, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { isObject, readJson } from '../model/json-text'
import { ExpressionInput } from './expression-input'
import { FieldFrame } from './field-frame'
import { JsonWidget } from './json-widget'
import { AddRow, RemoveRow } from './row-tools'
import { newRow, type Row, useRows } from './use-rows'
import { allowsText, type WidgetProps } from './widget'
import styles from './widgets.module.css'

/** How a value is entered: as text with `${…}`, or as JSON (a number, a list, an object). */
type Kind = 'text' | 'json'
interface Entry {
  name: string
  kind: Kind
  text: string
}

/** Named values. Where the step allows it, one expression can replace them all. */
export function KeyValueWidget(props: WidgetProps) {
  const { field, schema, value, onChange, problem, readOnly } = props
  const [whole, setWhole] = useState(typeof value === 'string')
  if (value !== undefined && typeof value !== 'string' && !isObject(value)) return <JsonWidget {...props} />
  const asText = whole || typeof value === 'string'
  return (
    <FieldFrame field={field} problem={problem} gap="sm">
      {allowsText(schema) && (
        <SegmentedControl
          size="xs"
          aria-label={`How to enter ${field.label.toLowerCase()}`}
          data={[
            { value: 'fields', label: 'Field by field' },
            { value: 'whole', label: 'One expression' },
          ]}
          value={asText ? 'whole' : 'fields'}
          readOnly={readOnly}
          onChange={(next) => {
            setWhole(next === 'whole')
            onChange(next === 'whole' ? '${_}' : undefined)
          }}
        />
      )}
      {asText ? (
        <ExpressionInput
          name={`${field.label} as one expression`}
          value={typeof value === 'string' ? value : ''}
          onChange={(next) => onChange(next === '' ? undefined : next)}
          readOnly={readOnly}
        />
      ) : (
        <Entries
          label={field.label}
          value={isObject(value) ? value : {}}
          onChange={(next) => onChange(Object.keys(next).length === 0 && !field.required ? undefined : next)}
          readOnly={readOnly}
        />
      )}
    </FieldFrame>
  )
}

function Entries(props: {
  label: string
  value: JsonObject
  onChange: (value: JsonObject) => void
  readOnly: boolean
}) {
  const { label, value, onChange, readOnly } = props
  const { rows, setRows } = useRows<Entry, JsonObject>({ value, read: entriesOf, write: objectOf, onChange })
  const change = (key: number, part: Partial<Entry>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  return (
    <>
      {rows.map((row, index) => {
        const rowLabel = row.name === '' ? `value ${index + 1}` : row.name
        return (
          <div key={row.key} className={styles.row}>
            <Group gap={4} wrap="nowrap" align="flex-start">
              <TextInput
                flex={1}
                size="xs"
                aria-label={`Name of ${rowLabel}`}
                placeholder="name"
                value={row.name}
                error={nameProblem(rows, row)}
                readOnly={readOnly}
                onChange={(event) => change(row.key, { name: event.currentTarget.value })}
              />
              <Select
                size="xs"
                w={84}
                aria-label={`Kind of ${rowLabel}`}
                data={[
                  { value: 'text', label: 'Text' },
                  { value: 'json', label: 'JSON' },
                ]}
                value={row.kind}
                allowDeselect={false}
                readOnly={readOnly}
                onChange={(kind) => kind && change(row.key, { kind: kind as Kind })}
              />
              {!readOnly && (
                <RemoveRow rowLabel={rowLabel} onClick={() => setRows(rows.filter(({ key }) => key !== row.key))} />
              )}
            </Group>
            <ExpressionInput
              name={`Value of ${rowLabel}`}
              value={row.text}
              onChange={(text) => change(row.key, { text })}
              error={row.kind === 'json' ? jsonProblem(row.text) : null}
              readOnly={readOnly}
            />
          </div>
        )
      })}
      {!readOnly && (
        <AddRow onClick={() => setRows([...rows, newRow<Entry>({ name: '', kind: 'text', text: '' })])}>
          Add to {label.toLowerCase()}
        </AddRow>
      )}
    </>
  )
}

function entriesOf(value: JsonObject): Entry[] {
  return Object.entries(value).map(([name, item]) =>
    typeof item === 'string' ? { name, kind: 'text', text: item } : { name, kind: 'json', text: JSON.stringify(item) },
  )
}

/** Leaves out rows without a name, with a duplicate name or with invalid JSON. */
function objectOf(rows: readonly Row<Entry>[]): JsonObject {
  const kept = new Map<string, JsonValue>()
  for (const { name, kind, text } of rows) {
    const read = kind === 'text' ? { value: text } : readJson(text)
    if (name !== '' && name !== '__proto__' && !kept.has(name) && 'value' in read) kept.set(name, read.value)
  }
  return Object.fromEntries(kept)
}

function nameProblem(rows: readonly Row<Entry>[], row: Row<Entry>): string | null {
  if (row.name === '') return row.text === '' ? null : 'Enter a name'
  return rows.find(({ name }) => name === row.name)?.key === row.key ? null : 'Another value has this name'
}

function jsonProblem(text: string): string | null {
  const read = readJson(text)
  return 'problem' in read ? 'Not valid JSON, so not saved yet' : null
}
