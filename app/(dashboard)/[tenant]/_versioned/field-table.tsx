'use client'
import { ActionIcon, Button, Checkbox, NativeSelect, Skeleton, TextInput } from '@mantine/core'
import { Plus, SlidersHorizontal, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useId, useState } from 'react'
import { inPlace, loadPart } from '@/app/_ui/part'
import { listWords, typeWords } from '../_arguments/type-words'
import { kindLabel } from '../_fields/kinds'
import { ITEM_TYPES, newField, type SchemaField } from './schema-fields'
import { kindOf, kindsFor, type SchemaKind, withKind } from './schema-kinds'
import { limitsText } from './schema-limits'
import styles from './versioned.module.css'

const LimitRow = dynamic(() => loadPart(() => import('./limit-row').then((module) => module.LimitRow)), {
  ssr: false,
  loading: inPlace(<Skeleton height={36} radius="md" />),
})

const labelOf = (kind: SchemaKind) => (kind === 'other' ? 'As written' : kindLabel(kind))
const ITEM_OPTIONS = ITEM_TYPES.map((type) => ({ value: type, label: `of ${listWords(typeWords(type))}` }))
const MAX_DEPTH = 4

/** An object's fields, one per row, with nested objects' fields below their row. */
export function FieldTable(props: {
  label: string
  fields: SchemaField[]
  onChange: (fields: SchemaField[]) => void
  readOnly: boolean
  depth: number
  /** Whether the values are entered in forms, which offer several lines for a long text. */
  inForms?: boolean
}) {
  const { label, fields, onChange, readOnly, depth, inForms = true } = props
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
            inForms={inForms}
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
  inForms: boolean
}) {
  const { field, called, problem, onChange, onRemove, readOnly, depth, inForms } = props
  const { type, items, fields } = field
  const nests = (type === 'object' || (type === 'array' && items === 'object')) && depth < MAX_DEPTH
  const listed = type === 'array' && items !== null
  const id = useId()
  const limited = type === 'string' || type === 'number' || type === 'integer'
  // Decided once: emptying the last limit must not take its input away.
  const [chosen, setOpen] = useState(() => hasLimits(field))
  const open = !readOnly && limited && chosen
  const limits = limitsText({ ...field, keep: unshown(field, open) })
  const kinds = kindsFor(field, inForms)
  return (
    <div className={`${styles.rows} ${styles.field}`}>
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
          data={kinds.map((one) => ({ value: one, label: labelOf(one) }))}
          value={kindOf(field)}
          disabled={readOnly || type === 'other'}
          wrapperProps={{ 'data-read-only': type === 'other' || undefined }}
          onChange={(event) => onChange(withKind(event.currentTarget.value as SchemaKind))}
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
          <div className={styles.rowTools}>
            {limited && (
              <ActionIcon
                variant="subtle"
                color="gray"
                size={32}
                aria-label={`Limits of ${called}`}
                title="Limits"
                aria-expanded={open}
                onClick={() => setOpen(!open)}
              >
                <SlidersHorizontal size={16} aria-hidden />
              </ActionIcon>
            )}
            <ActionIcon variant="subtle" color="gray" size={32} aria-label={`Remove ${called}`} onClick={onRemove}>
              <Trash2 size={16} aria-hidden />
            </ActionIcon>
          </div>
        )}
      </div>
      {open && <LimitRow field={field} called={called} onChange={onChange} />}
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
            inForms={inForms}
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

const LIMITS = ['enum', 'minimum', 'maximum']

function hasLimits({ keep }: SchemaField): boolean {
  return LIMITS.some((name) => keep[name] !== undefined)
}

/** The limits without those that the type or the open inputs show. */
function unshown(field: SchemaField, open: boolean): SchemaField['keep'] {
  const isShown = (name: string) =>
    (open && LIMITS.includes(name)) || (name === 'format' && kindOf(field) === field.keep.format)
  return Object.fromEntries(Object.entries(field.keep).filter(([name]) => !isShown(name)))
}
