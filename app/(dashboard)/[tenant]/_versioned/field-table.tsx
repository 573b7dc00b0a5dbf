'use client'
import { ActionIcon, Button, Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { useId } from 'react'
import { listWords, typeLabel, typeWords } from '../_arguments/type-words'
import { FIELD_TYPES, type FieldType, ITEM_TYPES, newField, type SchemaField } from './schema-fields'
import { limitsText } from './schema-limits'
import styles from './versioned.module.css'

const labelOf = (type: FieldType) => (type === 'other' ? 'As written' : typeLabel(type))
const ITEM_OPTIONS = ITEM_TYPES.map((type) => ({ value: type, label: `of ${listWords(typeWords(type))}` }))
const MAX_DEPTH = 4

/** An object's fields, one per row, with nested objects' fields below their row. */
export function FieldTable(props: {
  label: string
  fields: SchemaField[]
  onChange: (fields: SchemaField[]) => void
  readOnly: boolean
  depth: number
}) {
  const { label, fields, onChange, readOnly, depth } = props
  if (fields.length === 0) return <p className={styles.note}>{readOnly ? 'No fields' : 'No fields yet.'}</p>
  const names = fields.map(({ name }) => name)
  return (
    <div className={styles.rows}>
      {fields.map((field, index) => {
        const change = (patch: Partial<SchemaField>) =>
          onChange(fields.map((one) => (one.key === field.key ? { ...one, ...patch } : one)))
        return (
          <FieldRow
            key={field.key}
            field={field}
            called={`${label}, ${field.name || `field ${index + 1}`}`}
            problem={nameProblem(field.name, names, index)}
            onChange={change}
            onRemove={() => onChange(fields.filter(({ key }) => key !== field.key))}
            readOnly={readOnly}
            depth={depth}
          />
        )
      })}
    </div>
  )
}

function nameProblem(name: string, names: string[], index: number): string | null {
  if (name === '') return 'Enter a name'
  return names.indexOf(name) === index ? null : 'Another field has this name'
}

function FieldRow(props: {
  field: SchemaField
  called: string
  problem: string | null
  onChange: (patch: Partial<SchemaField>) => void
  onRemove: () => void
  readOnly: boolean
  depth: number
}) {
  const { field, called, problem, onChange, onRemove, readOnly, depth } = props
  const { type, items, fields } = field
  const nests = (type === 'object' || (type === 'array' && items === 'object')) && depth < MAX_DEPTH
  const listed = type === 'array' && items !== null
  const id = useId()
  const limits = limitsText(field)
  const types = FIELD_TYPES.filter((one) => one !== 'other' || type === 'other')
  return (
    <div className={styles.rows}>
      <div className={`${styles.row} ${listed ? styles.withItems : ''}`}>
        <TextInput
          aria-label={`Name of ${called}`}
          placeholder="name"
          value={field.name}
          readOnly={readOnly}
          error={readOnly ? null : problem}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
        <NativeSelect
          aria-label={`Type of ${called}`}
          aria-describedby={limits === null ? undefined : id}
          data={types.map((one) => ({ value: one, label: labelOf(one) }))}
          value={type}
          disabled={readOnly || type === 'other'}
          wrapperProps={{ 'data-read-only': type === 'other' || undefined }}
          onChange={(event) => onChange(withType(event.currentTarget.value as FieldType))}
        />
        {listed && (
          <NativeSelect
            aria-label={`Entries of ${called}`}
            data={ITEM_OPTIONS}
            value={items ?? 'any'}
            disabled={readOnly}
            onChange={(event) =>
              onChange({ items: event.currentTarget.value as SchemaField['items'], fields: [], keepItems: {} })
            }
          />
        )}
        <Checkbox
          label="Required"
          aria-label={`Required: ${called}`}
          checked={field.required}
          disabled={readOnly}
          onChange={(event) => onChange({ required: event.currentTarget.checked })}
        />
        <TextInput
          aria-label={`Description of ${called}`}
          placeholder={readOnly ? '' : 'Description'}
          value={field.description}
          readOnly={readOnly}
          onChange={(event) => onChange({ description: event.currentTarget.value })}
        />
        {!readOnly && (
          <ActionIcon variant="subtle" color="gray" size={32} aria-label={`Remove ${called}`} onClick={onRemove}>
            <Trash2 size={16} aria-hidden />
          </ActionIcon>
        )}
      </div>
      {limits !== null && (
        <p className={`${styles.note} ${styles.limits}`} id={id}>
          {limits}
        </p>
      )}
      {nests && (
        <div className={`${styles.rows} ${styles.nested}`}>
          <FieldTable
            label={called}
            fields={fields}
            onChange={(next) => onChange({ fields: next })}
            readOnly={readOnly}
            depth={depth + 1}
          />
          {!readOnly && (
            <div>
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<Plus size={14} aria-hidden />}
                onClick={() => onChange({ fields: [...fields, newField()] })}
              >
                Add a field to {field.name || 'it'}
              </Button>
            </div>
          )}
        </div>
      )}
    </div>
  )
}

/** Changing the type drops the settings that only apply to the old type. */
function withType(type: FieldType): Partial<SchemaField> {
  return { type, items: type === 'array' ? 'string' : null, fields: [], keep: {}, keepItems: {} }
}
