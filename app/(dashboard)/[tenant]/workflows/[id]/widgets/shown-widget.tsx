'use client'
import { Switch, TextInput } from '@mantine/core'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { isObject, readJson } from '../model/json-text'
import { ExpressionInput } from './expression-input'
import { FieldFrame } from './field-frame'
import { AddRow, RowTools } from './row-tools'
import { newRow, type Row, useRows } from './use-rows'
import type { WidgetProps } from './widget'
import styles from './widgets.module.css'

interface Shown {
  label: string
  text: string
  /** The API can store a number or an object: it is edited as JSON. */
  json: boolean
  markdown: boolean
}

/** A task's card, in order: labels, and texts with `${…}`. */
export function ShownWidget({ field, value, onChange, problem, readOnly }: WidgetProps) {
  const { rows, setRows } = useRows<Shown, JsonValue>({
    value: Array.isArray(value) ? value : [],
    read: shownOf,
    write: written,
    onChange: (next) => onChange(Array.isArray(next) && next.length === 0 ? undefined : next),
  })
  const change = (key: number, part: Partial<Shown>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  return (
    <FieldFrame field={field} problem={problem}>
      {rows.map((row, index) => {
        const rowLabel = row.label || `value ${index + 1}`
        return (
          <div key={row.key} className={styles.row}>
            <TextInput
              size="xs"
              aria-label={`Label of ${rowLabel}`}
              placeholder="Label"
              maxLength={200}
              value={row.label}
              readOnly={readOnly}
              onChange={(event) => change(row.key, { label: event.currentTarget.value })}
            />
            <ExpressionInput
              name={`Value of ${rowLabel}`}
              placeholder="${customer.name}"
              value={row.text}
              error={row.json && 'problem' in readJson(row.text) ? 'Not valid JSON, so not saved yet' : null}
              // The chosen value labels its row until the user does.
              onChange={(text) => change(row.key, { text, ...(row.label === '' ? { label: labelFor(text) } : {}) })}
              readOnly={readOnly}
            />
            <div className={styles.tail}>
              <Switch
                size="xs"
                label="Markdown"
                aria-label={`Markdown in ${rowLabel}`}
                checked={row.markdown}
                disabled={readOnly}
                onChange={(event) => change(row.key, { markdown: event.currentTarget.checked })}
              />
              {!readOnly && <RowTools rowLabel={rowLabel} rows={rows} index={index} setRows={setRows} />}
            </div>
          </div>
        )
      })}
      {!readOnly && (
        <AddRow
          onClick={() => setRows([...rows, newRow<Shown>({ label: '', text: '', json: false, markdown: false })])}
        >
          Add a value
        </AddRow>
      )}
    </FieldFrame>
  )
}

function shownOf(value: JsonValue): Shown[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item) => {
    if (!isObject(item)) return []
    const { label, value: shown = '', markdown } = item
    const json = typeof shown !== 'string'
    return [
      {
        label: typeof label === 'string' ? label : '',
        text: json ? JSON.stringify(shown) : shown,
        json,
        markdown: markdown === true,
      },
    ]
  })
}

/** Leaves out unfinished values. */
function written(rows: readonly Row<Shown>[]): JsonObject[] {
  return rows.flatMap(({ label, text, json, markdown }) => {
    const read = json ? readJson(text) : { value: text }
    if (!('value' in read) || (label === '' && text === '')) return []
    return [{ label, value: read.value, ...(markdown ? { markdown } : {}) }]
  })
}

/** `${order.deliveryDate}` becomes "Delivery date". */
function labelFor(text: string): string {
  const [, name = ''] = /^\$\{(?:[\w-]+\.)*([A-Za-z][\w-]*)\}$/.exec(text) ?? []
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
