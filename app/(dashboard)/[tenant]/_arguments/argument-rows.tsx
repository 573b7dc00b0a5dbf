'use client'
import { ActionIcon, Button } from '@mantine/core'
import { ChevronDown, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import { AddRow } from './add-row'
import { ArgumentField, type RowProps, type Shared } from './argument-field'
import styles from './arguments.module.css'
import { Nested } from './nested'
import { type Shape, shapeOf } from './shape'
import { emptyValue, isGap, modeOf, unknownNames, withValue } from './values'

const inside = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)

/** Up to this many empty optional rows are shown initially. */
const MAX_EMPTY = 5

/** An object's rows: one for each name in its schema, then any other names of the value. */
export function ArgumentRows(
  props: Shared & { shape: Shape; value: JsonObject; onChange: (value: JsonObject) => void },
) {
  const { path, shape, value, onChange, readOnly, problemAt, idOf } = props
  const [all, setAll] = useState(false)
  const shared = { readOnly, problemAt, idOf }
  const set = (name: string, next: JsonValue | undefined) => onChange(withValue(value, name, next))
  const empty = shape.fields.filter(({ name, required }) => !required && value[name] === undefined)
  const hidden = all || empty.length <= MAX_EMPTY ? [] : empty
  return (
    <>
      {shape.fields
        .filter((field) => !hidden.includes(field))
        .map(({ name, required, shape: own }) => (
          <ArgumentRow
            key={name}
            {...shared}
            name={name}
            path={inside(path, name)}
            shape={own}
            required={required}
            value={value[name]}
            onChange={(next) => set(name, next)}
          />
        ))}
      {hidden.length > 0 && (
        <Button
          variant="subtle"
          size="compact-sm"
          className={styles.small ?? ''}
          leftSection={<ChevronDown size={14} aria-hidden />}
          onClick={() => setAll(true)}
        >
          Show {hidden.length} optional arguments
        </Button>
      )}
      {unknownNames(shape, value).map((name) => (
        <UnknownRow key={name} {...props} name={name} onSet={(next) => set(name, next)} />
      ))}
      {shape.open && !readOnly && <AddRow taken={value} shape={shape} onAdd={(name) => set(name, '')} />}
    </>
  )
}

const ANY = shapeOf(undefined)

/** A value that the schema does not mention: shown, so that it is not lost, and easy to remove. */
function UnknownRow(
  props: Shared & {
    shape: Shape
    value: JsonObject
    name: string
    onSet: (value: JsonValue | undefined) => void
  },
) {
  const { path, shape, value, name, onSet, readOnly, problemAt, idOf } = props
  const at = inside(path, name)
  const problem = problemAt(at) ?? (shape.open ? null : 'There is no such argument.')
  return (
    <div className={styles.unknown}>
      <ArgumentRow
        path={at}
        problemAt={(wanted) => (wanted === at ? problem : problemAt(wanted))}
        idOf={idOf}
        readOnly={readOnly}
        name={name}
        shape={ANY}
        required={false}
        value={value[name]}
        // Stays when it is emptied during typing.
        onChange={(next) => onSet(next ?? '')}
      />
      {!readOnly && (
        <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${name}`} onClick={() => onSet(undefined)}>
          <Trash2 size={16} aria-hidden />
        </ActionIcon>
      )}
    </div>
  )
}

/** One argument: its name, type and description, and the control for its schema and value. */
function ArgumentRow(props: RowProps) {
  const { shape, value, onChange } = props
  if (modeOf(shape, value) !== 'own') return <ArgumentField {...props} />
  if (shape.kind === 'object' && (shape.fields.length > 0 || !shape.open)) {
    return (
      <Nested {...props}>
        <ArgumentRows {...props} value={isJsonObject(value) ? value : {}} onChange={onChange} />
      </Nested>
    )
  }
  if (shape.kind === 'list' && shape.item !== null) {
    return (
      <Nested {...props}>
        <ListRows {...props} item={shape.item} value={Array.isArray(value) ? value : []} />
      </Nested>
    )
  }
  return <ArgumentField {...props} />
}

/** A list's elements as rows. An emptied element stays, because its position counts. */
function ListRows(
  props: Shared & {
    name: string
    item: Shape
    value: JsonValue[]
    onChange: (value: JsonValue | undefined) => void
  },
) {
  const { name, path, item, value, onChange, readOnly, problemAt, idOf } = props
  const gaps = new Set(value.flatMap((element, index) => (isGap(item, element) ? [`${path}[${index}]`] : [])))
  return (
    <>
      {value.map((element, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an element is known by its place
        <div key={index} className={styles.unknown}>
          <ArgumentRow
            path={`${path}[${index}]`}
            problemAt={(at) => (gaps.has(at) ? 'Enter a value, or remove this row.' : problemAt(at))}
            idOf={idOf}
            readOnly={readOnly}
            name={`${name} ${index + 1}`}
            // Elements have no default: a default applies only to missing values.
            shape={{ ...item, fallback: undefined }}
            required={false}
            lasting
            value={isGap(item, element) ? undefined : element}
            onChange={(next) => onChange(value.with(index, next ?? emptyValue(item)))}
          />
          {!readOnly && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove ${name} ${index + 1}`}
              onClick={() => onChange(value.toSpliced(index, 1))}
            >
              <Trash2 size={16} aria-hidden />
            </ActionIcon>
          )}
        </div>
      ))}
      {!readOnly && (
        <Button
          variant="default"
          size="compact-sm"
          className={styles.small ?? ''}
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...value, emptyValue(item)])}
        >
          Add to {name}
        </Button>
      )}
    </>
  )
}
