'use client'
import { Button, Select } from '@mantine/core'
import { useState } from 'react'
import type { JsonValue } from '@/server/definition/json'
import styles from './arguments.module.css'
import { JsonValueInput } from './json-value'
import { byFit, suits } from './matches'
import { type Shape, wantedType } from './shape'
import { useFormMeans } from './texts'
import { isTemplate, modeOf, numberText, numberValue, optionText, same, valueProblem } from './values'

/** Props shared by all rows of an argument form. */
export interface Shared {
  /** The value's path, such as `customer.name` or `lines[0]`; empty for all arguments. */
  path: string
  problemAt: (path: string) => string | null
  /** The element id of a path, so that a problem can link to it. */
  idOf: (path: string) => string
  readOnly: boolean
}

export interface RowProps extends Shared {
  /** The row's name, such as `customer` or `lines 2`. */
  name: string
  shape: Shape
  required: boolean
  value: JsonValue | undefined
  /** The row cannot remove the value; other controls do. */
  lasting?: boolean
  /** `undefined` removes the value. */
  onChange: (value: JsonValue | undefined) => void
}

export const problemOf = ({ problemAt, path, shape, value }: RowProps) => problemAt(path) ?? valueProblem(shape, value)

/** The control for a value without rows of its own, or for one that rows cannot show. */
export function ArgumentField(props: RowProps) {
  const { name, path, shape, required, value, onChange, readOnly, idOf } = props
  const { Text } = useFormMeans()
  const [asJson, setAsJson] = useState(false)
  // For numbers: a value would lose `1.` and `1.50`.
  const [typed, setTyped] = useState('')
  const shared = {
    id: idOf(path),
    name,
    label: <RowLabel name={name} words={shape.words} />,
    description: shape.description || undefined,
    withAsterisk: required,
    placeholder: placeholderOf(shape),
    error: problemOf(props),
    readOnly,
  }
  const setText = (next: string) => onChange(next === '' ? undefined : next)
  const wanted = wantedType(shape)
  const small = (label: string, onClick: () => void) =>
    readOnly ? null : (
      <Button variant="subtle" size="compact-xs" className={styles.small ?? ''} onClick={onClick}>
        {label}
      </Button>
    )
  const mode = modeOf(shape, value)
  const { kind } = shape
  if (mode === 'json' || ((kind === 'object' || kind === 'list') && mode === 'own')) {
    // Within a row like the other controls, so that a field keeps its identity while a user types JSON.
    return (
      <div className={styles.row}>
        <JsonValueInput {...shared} value={value} onChange={onChange} />
      </div>
    )
  }
  if (mode === 'expression') {
    return (
      <div className={styles.row}>
        <Text {...shared} value={String(value)} onChange={setText} wanted={wanted} replaces />
        {small(kind === 'object' || kind === 'list' ? 'Enter it here instead' : 'Choose from a list', () =>
          onChange(undefined),
        )}
      </div>
    )
  }
  if (kind === 'boolean' || kind === 'choice') return <ChoiceInput {...props} />
  if (kind === 'number' || kind === 'integer') {
    const change = (next: string) => {
      setTyped(next)
      onChange(numberValue(next))
    }
    return <Text {...shared} value={numberText(value, typed)} onChange={change} wanted={wanted} replaces />
  }
  const text = typeof value === 'string' ? value : ''
  // An added name has empty text until it has a value.
  const empty = value === undefined || value === ''
  if (kind === 'string') {
    const { format } = shape
    const long = format === 'long-text'
    return <Text {...shared} value={text} onChange={setText} wanted={wanted} format={format} multiline={long} />
  }
  return (
    <div className={styles.row}>
      {asJson && empty ? (
        <JsonValueInput {...shared} value={undefined} onChange={onChange} />
      ) : (
        <Text {...shared} value={text} onChange={setText} wanted={wanted} />
      )}
      {empty && small(asJson ? 'Enter text' : 'Enter JSON', () => setAsJson(!asJson))}
    </div>
  )
}

export function RowLabel({ name, words }: { name: string; words: string }) {
  return (
    <>
      <span className="mono">{name}</span> <span className={styles.type}>{words}</span>
    </>
  )
}

/** Choices first, then the matching values of the run. */
function ChoiceInput(props: RowProps) {
  const { name, path, shape, required, value, onChange, readOnly, idOf } = props
  const { offers } = useFormMeans()
  const options: JsonValue[] = shape.kind === 'boolean' ? [true, false] : shape.options
  const wanted = wantedType(shape)
  const suitable = byFit(offers ?? [], wanted).filter((offer) => suits(offer.type, wanted) < 2 && offer.name !== '_')
  const items = options.map((option, index) => ({ value: `=${index}`, label: optionText(option) }))
  const index = value === undefined ? -1 : options.findIndex((option) => same(option, value))
  return (
    <Select
      id={idOf(path)}
      label={<RowLabel name={name} words={shape.words} />}
      description={shape.description || undefined}
      withAsterisk={required}
      error={problemOf(props)}
      readOnly={readOnly}
      placeholder={placeholderOf(shape) ?? 'Choose'}
      data={
        suitable.length === 0
          ? items
          : [
              { group: 'Choices', items },
              {
                group: 'From this run',
                items: suitable.map((offer) => ({
                  value: `$${offer.name}`,
                  label: `\${${offer.name}}${offer.maybe ? ' (may be missing)' : ''}`,
                })),
              },
            ]
      }
      value={index === -1 ? null : `=${index}`}
      searchable
      clearable={!required}
      nothingFoundMessage="Nothing matches"
      onChange={(next) => {
        if (next === null) onChange(undefined)
        else if (next.startsWith('$')) onChange(`\${${next.slice(1)}}`)
        else onChange(options[Number(next.slice(1))])
      }}
    />
  )
}

function placeholderOf({ fallback }: Shape): string | undefined {
  if (fallback === undefined) return undefined
  return isTemplate(fallback) ? undefined : `${optionText(fallback)} unless set`
}
