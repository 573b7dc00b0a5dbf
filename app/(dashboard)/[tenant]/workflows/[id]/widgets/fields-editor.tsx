'use client'
import { Select, Skeleton, Switch, TextInput } from '@mantine/core'
import dynamic from 'next/dynamic'
import type { ReactNode } from 'react'
import { inPlace, loadPart } from '@/app/_ui/part'
import { underField } from '@/app/_ui/sentence'
import { isNumeric, limitProblem } from '@/server/definition/field-limits'
import type { JsonValue } from '@/server/definition/json'
import type { DeclaredField, Field, Fields, FieldType } from '@/server/definition/schema'
import { choicesAs, textOf, typedAs } from '../../../_fields/choices'
import { ChoicesInput } from '../../../_fields/choices-input'
import { derivedName } from '../../../_fields/derived-name'
import { FIELD_KINDS, type FieldKind, kindLabel, kindOf, partsOfKind } from '../../../_fields/kinds'
import { nameProblem } from '../model/definition'
import { AddField } from './add-field'
import { RowTools } from './row-tools'
import { newRow, type Row, useRows } from './use-rows'
import styles from './widgets.module.css'

// Only numbers have bounds.
const BoundInputs = dynamic(
  () => loadPart(() => import('../../../_fields/bound-inputs').then((module) => module.BoundInputs)),
  { ssr: false, loading: inPlace(<Skeleton height={30} radius="md" />) },
)

const KINDS = FIELD_KINDS.map((value) => ({ value, label: kindLabel(value) }))

interface Declared {
  /** The name being typed. */
  name: string
  /** The stored name; empty while the row is new. */
  kept: string
  /** The name follows the label until the author types one. */
  follows: boolean
  field: Field
  /** The default being typed. */
  preset: string
}

type Parts = { [K in keyof DeclaredField]?: DeclaredField[K] | undefined }

/**
 * Declared fields, one row each: label, name, type, description, default, limits and whether it is required. Forms show
 * them in this order.
 */
export function FieldsEditor(props: {
  value: Fields
  onChange: (fields: Fields) => void
  /** Renames a field that references may use. */
  onRename: (from: string, to: string) => void
  /** The names of other fields in run data: a name that follows the label avoids them. */
  taken: ReadonlySet<string>
  readOnly: boolean
}) {
  const { value, onChange, onRename, taken, readOnly } = props
  const { rows, setRows } = useRows<Declared, Fields>({ value, read: rowsOf, write: fieldsOf, onChange })
  const change = (key: number, part: Partial<Declared>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  /** Renames on blur: while typing, every letter would be another name. */
  function leaveName(row: Row<Declared>) {
    if (row.name === row.kept || row.name === '' || problemOf(rows, row) !== null) return
    setRows(
      rows.map((other) => (other.key === row.key ? { ...row, kept: row.name, follows: false } : other)),
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
          onLabel={(label) => change(row.key, labelled(rows, row, label, taken))}
          tools={!readOnly && <RowTools rowLabel={labelOf(row, index)} rows={rows} index={index} setRows={setRows} />}
        />
      ))}
      {!readOnly && <AddField onAdd={(kind) => setRows([...rows, newRow(emptyField(kind))])} />}
    </>
  )
}

function emptyField(kind: FieldKind): Declared {
  const field = withParts({ type: 'string' }, withKind({ type: 'string' }, kind))
  return { name: '', kept: '', follows: true, field, preset: '' }
}

function labelOf({ name }: Declared, index: number): string {
  return name === '' ? `field ${index + 1}` : name
}

/** The row with another label, and its name if that follows. */
function labelled(
  rows: readonly Row<Declared>[],
  row: Row<Declared>,
  label: string,
  others: ReadonlySet<string>,
): Partial<Declared> {
  const beside = rows.filter(({ key }) => key !== row.key).flatMap(({ name, kept }) => [name, kept])
  const name = label.trim() === '' ? row.kept : derivedName(label, new Set([...others, ...beside]))
  return { field: withParts(row.field, { label: label || undefined }), ...(row.follows ? { name } : {}) }
}

/** Only the schema's own names: anything else would be reported as unknown. */
function withParts(field: Field, parts: Parts): Field {
  return { ...field, ...parts } as Field
}

interface RowProps {
  row: Row<Declared>
  rowLabel: string
  problem: string | null
  readOnly: boolean
  onChange: (part: Partial<Declared>) => void
  onLabel: (label: string) => void
  onLeaveName: () => void
}

function FieldRow({ tools, ...props }: RowProps & { tools: ReactNode }) {
  const { row, rowLabel, problem, readOnly, onChange, onLabel, onLeaveName } = props
  const { field } = row
  const set = (parts: Parts) => onChange({ field: withParts(field, parts) })
  return (
    <fieldset className={styles.field}>
      <legend className="visually-hidden">Field {rowLabel}</legend>
      <div className={styles.pair}>
        <TextInput
          size="xs"
          aria-label={`Label of ${rowLabel}`}
          placeholder="Label"
          value={typeof field.label === 'string' ? field.label : ''}
          readOnly={readOnly}
          onChange={(event) => onLabel(event.currentTarget.value)}
          onBlur={onLeaveName}
        />
        <TextInput
          size="xs"
          classNames={{ input: 'mono' }}
          aria-label={`Name of ${rowLabel}`}
          placeholder="name"
          value={row.name}
          error={problem}
          readOnly={readOnly}
          onChange={({ currentTarget: { value } }) => onChange({ name: value, follows: value === '' })}
          onBlur={onLeaveName}
        />
      </div>
      <div className={styles.pair}>
        <Select
          size="xs"
          aria-label={`Type of ${rowLabel}`}
          data={KINDS}
          value={kindOf(field)}
          allowDeselect={false}
          readOnly={readOnly}
          onChange={(kind) => kind && set(withKind(field, kind as FieldKind))}
        />
        <TextInput
          size="xs"
          aria-label={`Description of ${rowLabel}`}
          placeholder="Description"
          value={field.description ?? ''}
          readOnly={readOnly}
          onChange={(event) => set({ description: event.currentTarget.value || undefined })}
        />
      </div>
      <FieldValues {...props} set={set} />
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

/** A field's default and its limits. */
function FieldValues({ row, rowLabel, readOnly, onChange, set }: RowProps & { set: (parts: Parts) => void }) {
  const { field } = row
  const shared = { called: rowLabel, size: 'xs' as const, readOnly }
  return (
    <>
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
        <ChoicesInput {...shared} type={field.type} value={field.options} onChange={(options) => set({ options })} />
      </div>
      {isNumeric(field) && (
        <div className={styles.pair}>
          <BoundInputs {...shared} minimum={field.minimum} maximum={field.maximum} onChange={set} />
        </div>
      )}
    </>
  )
}

/** The parts of a field of another kind. Its choices become values of the new type. */
function withKind(field: Field, kind: FieldKind): Parts {
  const parts = partsOfKind(field, kind)
  const { options } = field
  return { ...parts, ...(options ? { options: choicesAs(options, parts.type) } : {}) }
}

function rowsOf(fields: Fields): Declared[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    kept: name,
    follows: false,
    field,
    preset: field.default === undefined ? '' : textOf(field.default as JsonValue),
  }))
}

function fieldsOf(rows: readonly Row<Declared>[]): Fields {
  const kept = new Map<string, Field>()
  for (const row of rows) {
    const name = row.kept || (problemOf(rows, row) === null ? row.name : '')
    if (name === '') continue
    const { default: _default, options, label, description, required, ...rest } = row.field
    const parts = { ...rest, label, description, required, default: presetOf(row), options }
    kept.set(name, Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as Field)
  }
  return Object.fromEntries(kept)
}

function problemOf(rows: readonly Row<Declared>[], row: Row<Declared>): string | null {
  if (row.name === '') return row.kept === '' ? null : 'Enter a name.'
  const twice = rows.some(({ name, key }) => name === row.name && key !== row.key)
  return nameProblem(row.name) ?? (twice ? 'Another field has this name.' : null)
}

function presetOf({ preset, field }: Declared): JsonValue | undefined {
  return preset === '' ? undefined : typedAs(preset, field.type)
}

function presetProblem(row: Declared): string | null {
  const { field, preset } = row
  const value = presetOf(row)
  // In a form, a default may come from run data.
  if (value === undefined || preset.includes('${')) return null
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
  if (!fits[field.type]) return 'Does not match the type'
  const problem = limitProblem(field, value)
  return problem === null ? null : underField(problem)
}
