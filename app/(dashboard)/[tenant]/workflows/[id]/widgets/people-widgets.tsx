'use client'
import { Group, NumberInput, Select } from '@mantine/core'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { ASSIGNEE } from '@/server/definition/people'
import { isObject } from '../model/json-text'
import { choicesOf } from './choice-rows'
import { ExpressionInput } from './expression-input'
import { FieldFrame } from './field-frame'
import { AddRow, RemoveRow } from './row-tools'
import { newRow, useRows } from './use-rows'
import { inputProps, type WidgetProps } from './widget'
import styles from './widgets.module.css'

interface Assignee {
  kind: 'user' | 'role'
  name: string
}

const KINDS = [
  { value: 'user', label: 'Person' },
  { value: 'role', label: 'Role' },
]
/** Viewers cannot answer, so `role:viewer` would mean operators. */
const ROLES = [
  { value: 'operator', label: 'Operators and higher' },
  { value: 'editor', label: 'Editors and higher' },
  { value: 'admin', label: 'Admins and owners' },
  { value: 'owner', label: 'Owners' },
]

/** A list of people and roles, or one expression that returns it. */
export function AssigneesWidget(props: WidgetProps) {
  const { field, value, onChange } = props
  if (typeof value !== 'string') return <AssigneeRows {...props} />
  return (
    <ExpressionInput
      {...inputProps(props)}
      name={field.label}
      value={value}
      onChange={(next) => onChange(next === '' ? undefined : next)}
    />
  )
}

function AssigneeRows(props: WidgetProps) {
  const { value, onChange, readOnly } = props
  const { rows, setRows } = useRows<Assignee, JsonValue>({
    value: Array.isArray(value) ? value : [],
    read: assigneesOf,
    write: written,
    onChange: (next) => onChange(Array.isArray(next) && next.length > 0 ? next : undefined),
  })
  const change = (key: number, part: Partial<Assignee>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  return (
    <FieldFrame {...props}>
      {rows.map((row, index) => {
        const label = row.name || `assignee ${index + 1}`
        return (
          <Group key={row.key} gap={4} wrap="nowrap" align="flex-start">
            <Select
              size="xs"
              w={96}
              aria-label={`Kind of ${label}`}
              data={KINDS}
              value={row.kind}
              allowDeselect={false}
              readOnly={readOnly}
              onChange={(kind) =>
                change(row.key, kind === 'role' ? { kind, name: 'admin' } : { kind: 'user', name: '' })
              }
            />
            <div className={styles.grows}>
              {row.kind === 'role' && !row.name.includes('${') ? (
                <Select
                  size="xs"
                  aria-label={`Role of ${label}`}
                  data={ROLES}
                  value={row.name}
                  allowDeselect={false}
                  readOnly={readOnly}
                  onChange={(name) => change(row.key, { name: name ?? 'admin' })}
                />
              ) : (
                <ExpressionInput
                  name={`Name of ${label}`}
                  placeholder="ada@example.com"
                  value={row.name}
                  onChange={(name) => change(row.key, { name: name.trim() })}
                  error={row.name !== '' && written([row]).length === 0 ? 'Use 256 characters or fewer' : null}
                  readOnly={readOnly}
                />
              )}
            </div>
            {!readOnly && (
              <RemoveRow rowLabel={label} onClick={() => setRows(rows.filter(({ key }) => key !== row.key))} />
            )}
          </Group>
        )
      })}
      {!readOnly && (
        <AddRow onClick={() => setRows([...rows, newRow<Assignee>({ kind: 'user', name: '' })])}>
          Add a person or role
        </AddRow>
      )}
    </FieldFrame>
  )
}

function assigneesOf(value: JsonValue): Assignee[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((one): Assignee[] => {
    if (typeof one !== 'string') return []
    const role = one.startsWith('role:')
    return [{ kind: role ? 'role' : 'user', name: one.replace(/^(user|role):/, '') }]
  })
}

/** Leaves out rows without a name. */
function written(rows: readonly Assignee[]): string[] {
  return rows.map(({ kind, name }) => `${kind}:${name}`).filter((one) => one.includes('${') || ASSIGNEE.test(one))
}

/** A number for each entry of a list in another field of the step. */
export function CountsWidget(props: WidgetProps) {
  const { field, value, siblings, onChange, readOnly } = props
  const list = field.widget === 'counts' ? siblings[field.of] : undefined
  const numbers: JsonObject = isObject(value) ? value : {}
  const listed = choicesOf(list ?? []).filter(({ id }) => id !== '')
  const gone = Object.keys(numbers).filter((name) => !listed.some(({ id }) => id === name))
  const set = (id: string, number: number | undefined) => {
    const { [id]: _old, ...rest } = numbers
    const next = number === undefined ? rest : { ...rest, [id]: number }
    onChange(Object.keys(next).length === 0 ? undefined : next)
  }
  return (
    <FieldFrame {...props}>
      {[...listed, ...gone.map((id) => ({ id, label: id }))].map(({ id, label }) => (
        <NumberInput
          key={id}
          size="xs"
          label={label || id}
          placeholder="1"
          min={1}
          max={100}
          allowDecimal={false}
          clampBehavior="none"
          value={typeof numbers[id] === 'number' ? numbers[id] : ''}
          readOnly={readOnly}
          onChange={(next) => set(id, typeof next === 'number' ? next : undefined)}
        />
      ))}
    </FieldFrame>
  )
}
