'use client'
import { Select, Switch, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { isFileList } from '@/server/definition/file-fields'
import type { DeclaredField, Field, Fields, FieldType } from '@/server/definition/schema'
import { nameProblem } from '../model/definition'
import { readJson } from '../model/json-text'
import { AddRow, RowTools } from './row-tools'
import { newRow, type Row, useRows } from './use-rows'
import styles from './widgets.module.css'

const TYPES: { value: FieldType | 'files'; label: string }[] = [
  { value: 'string', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'integer', label: 'Whole number' },
  { value: 'boolean', label: 'Yes or no' },
  { value: 'object', label: 'Object' },
  { value: 'array', label: 'List' },
  { value: 'file', label: 'File' },
  { value: 'files', label: 'Several files' },
  { value: 'any', label: 'Anything' },
]

interface Declared {
  /** The name being typed. */
  name: string
  /** The stored name; empty while the row is new. */
  kept: string
  field: Field
  /** The default being typed. */
  preset: string
  options: string
}

/**
 * Declared fields, one row each: name, type, label, description, default and whether it is required. Forms show them in
 * this order.
 */
export function FieldsEditor(props: {
  value: Fields
  onChange: (fields: Fields) => void
  /** Renames a field that references may use. */
  onRename: (from: string, to: string) => void
  readOnly: boolean
}) {
  const { value, onChange, onRename, readOnly } = props
  const { rows, setRows } = useRows<Declared, Fields>({ value, read: rowsOf, write: fieldsOf, onChange })
  const change = (key: number, part: Partial<Declared>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  /** Renames on blur: while typing, every letter would be another name. */
  function leaveName(row: Row<Declared>) {
    if (row.name === row.kept || row.name === '' || problemOf(rows, row) !== null) return
    setRows(
      rows.map((other) => (other.key === row.key ? { ...row, kept: row.name } : other)),
      { silent: row.kept !== '' },
    )
    if (row.kept !== '') onRename(row.kept, row.name)
  }
  return (
    <>
      {rows.map((row, index) => (
        <FieldRow
          key={row.key}
          row={row}
          rowLabel={labelOf(row, index)}
          problem={problemOf(rows, row)}
          onLeaveName={() => leaveName(row)}
          readOnly={readOnly}
          onChange={(part) => change(row.key, part)}
          tools={!readOnly && <RowTools rowLabel={labelOf(row, index)} rows={rows} index={index} setRows={setRows} />}
        />
      ))}
      {!readOnly && (
        <AddRow
          onClick={() =>
            setRows([
              ...rows,
              newRow<Declared>({ name: '', kept: '', field: { type: 'string' }, preset: '', options: '' }),
            ])
          }
        >
          Add field
        </AddRow>
      )}
    </>
  )
}

function labelOf({ name }: Declared, index: number): string {
  return name === '' ? `field ${index + 1}` : name
}

function FieldRow(props: {
  row: Row<Declared>
  rowLabel: string
  problem: string | null
  readOnly: boolean
  onChange: (part: Partial<Declared>) => void
  onLeaveName: () => void
  tools: ReactNode
}) {
  const { row, rowLabel, problem, readOnly, onChange, onLeaveName, tools } = props
  const { field } = row
  // Only what the schema declares: anything else would be reported as unknown.
  const set = (part: { [K in keyof DeclaredField]?: DeclaredField[K] | undefined }) =>
    onChange({ field: { ...field, ...part } as Field })
  return (
    <fieldset className={styles.field}>
      <legend className="visually-hidden">Field {rowLabel}</legend>
      <div className={styles.pair}>
        <TextInput
          size="xs"
          aria-label={`Name of ${rowLabel}`}
          placeholder="name"
          value={row.name}
          error={problem}
          readOnly={readOnly}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
          onBlur={onLeaveName}
        />
        <Select
          size="xs"
          aria-label={`Type of ${rowLabel}`}
          data={TYPES}
          value={isFileList(field) ? 'files' : field.type}
          allowDeselect={false}
          readOnly={readOnly}
          onChange={(type) => type && set(typeOf(field, type as FieldType | 'files'))}
        />
      </div>
      <TextInput
        size="xs"
        aria-label={`Label of ${rowLabel}`}
        placeholder="Label"
        value={typeof field.label === 'string' ? field.label : ''}
        readOnly={readOnly}
        onChange={(event) => set({ label: event.currentTarget.value || undefined })}
      />
      <TextInput
        size="xs"
        aria-label={`Description of ${rowLabel}`}
        placeholder="Description"
        value={field.description ?? ''}
        readOnly={readOnly}
        onChange={(event) => set({ description: event.currentTarget.value || undefined })}
      />
      <div className={styles.pair}>
        <TextInput
          size="xs"
          aria-label={`Default of ${rowLabel}`}
          placeholder="Default"
          value={row.preset}
          error={presetProblem(row)}
          readOnly={readOnly}
          onChange={(event) => onChange({ preset: event.currentTarget.value })}
        />
        <TextInput
          size="xs"
          aria-label={`Choices of ${rowLabel}`}
          placeholder="Choices: a, b, c"
          value={row.options}
          readOnly={readOnly}
          onChange={(event) => onChange({ options: event.currentTarget.value })}
        />
      </div>
      <div className={styles.tail}>
        <Switch
          size="xs"
          label="Required"
          aria-label={`${rowLabel} is required`}
          checked={field.required !== false}
          disabled={readOnly}
          onChange={(event) => set({ required: event.currentTarget.checked ? undefined : false })}
        />
        <Switch
          size="xs"
          label="Sensitive"
          aria-label={`${rowLabel} is sensitive`}
          title="Screens hide its value"
          checked={field.sensitive === true}
          disabled={readOnly}
          onChange={(event) => set({ sensitive: event.currentTarget.checked ? true : undefined })}
        />
        {tools}
      </div>
    </fieldset>
  )
}

/** Several files are a list of them. */
function typeOf(field: Field, type: FieldType | 'files'): Pick<Field, 'type'> & { items?: Field['items'] | undefined } {
  if (type === 'files') return { type: 'array', items: { type: 'file' } }
  return isFileList(field) ? { type, items: undefined } : { type }
}

function rowsOf(fields: Fields): Declared[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    kept: name,
    field,
    preset:
      field.default === undefined
        ? ''
        : typeof field.default === 'string'
          ? field.default
          : JSON.stringify(field.default),
    options: (field.options ?? [])
      .map((option) => (typeof option === 'string' ? option : JSON.stringify(option)))
      .join(', '),
  }))
}

function fieldsOf(rows: readonly Row<Declared>[]): Fields {
  const kept = new Map<string, Field>()
  for (const row of rows) {
    const name = row.kept || (problemOf(rows, row) === null ? row.name : '')
    if (name === '') continue
    const { default: _default, options: _options, label, description, required, ...rest } = row.field
    const preset = presetOf(row)
    const options = row.options
      .split(',')
      .flatMap((text) => (text.trim() === '' ? [] : [asTyped(text.trim(), row.field.type)]))
    kept.set(name, {
      ...rest,
      ...(label === undefined ? {} : { label }),
      ...(description === undefined ? {} : { description }),
      ...(required === undefined ? {} : { required }),
      ...(preset === undefined ? {} : { default: preset }),
      ...(options.length === 0 ? {} : { options }),
    } as Field)
  }
  return Object.fromEntries(kept)
}

function problemOf(rows: readonly Row<Declared>[], row: Row<Declared>): string | null {
  if (row.name === '') return row.kept === '' ? null : 'Enter a name.'
  const twice = rows.some(({ name, key }) => name === row.name && key !== row.key)
  return nameProblem(row.name) ?? (twice ? 'Another field has this name.' : null)
}

function presetOf({ preset, field }: Declared) {
  return preset === '' ? undefined : asTyped(preset, field.type)
}

/** The typed text as a value of the field's type, or as text if it is not one. */
function asTyped(text: string, type: FieldType) {
  if (type === 'string' || type === 'file') return text
  const read = readJson(text)
  return 'value' in read ? read.value : text
}

function presetProblem(row: Declared): string | null {
  const value = presetOf(row)
  if (value === undefined) return null
  const fits: Record<FieldType, boolean> = {
    string: typeof value === 'string',
    file: typeof value === 'string',
    number: typeof value === 'number',
    integer: Number.isInteger(value),
    boolean: typeof value === 'boolean',
    array: Array.isArray(value),
    object: typeof value === 'object' && value !== null && !Array.isArray(value),
    any: true,
  }
  return fits[row.field.type] ? null : 'Does not match the type'
}
