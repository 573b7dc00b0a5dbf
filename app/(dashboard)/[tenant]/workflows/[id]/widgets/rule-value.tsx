'use client'
import { MultiSelect, NativeSelect, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import type { JsonValue } from '@/server/definition/json'
import { useCommitted } from '../draft/use-committed'
import { OPERATORS, type Test, type Value } from '../model/rule'
import { type Kind, kindOfAny, kindOfValue } from '../model/rule-words'
import styles from './rule.module.css'

interface Props {
  label: string
  test: Test
  kind: Kind
  choices: readonly JsonValue[] | undefined
  onChange: (value: Value) => void
  readOnly: boolean
}

/** The value of a comparison, in a control that fits the field. */
export function RuleValue(props: Props) {
  const { label, test, kind, choices, onChange, readOnly } = props
  const takes = OPERATORS[test.operator]
  const { value } = test
  const shared = { 'aria-label': label, readOnly }
  if (takes === 'nothing') return null
  if (takes === 'count') return <NumberValue {...props} least={0} />
  if (kind === 'choice' && choices) return <ChoiceValue {...props} choices={choices} />
  if (takes === 'several') {
    const texts = Array.isArray(value) ? value.map(String) : []
    return (
      <TagsInput
        {...shared}
        placeholder={texts.length === 0 ? 'Press Enter after each' : ''}
        value={texts}
        onChange={(next) => onChange(next.flatMap((text) => plain(text, kind === 'any' ? kindOfList(value) : kind)))}
      />
    )
  }
  if (kind === 'any' || kind === 'list') return <AnyValue {...props} />
  return <OneValue {...props} />
}

function OneValue(props: Props) {
  const { label, test, kind, onChange, readOnly } = props
  const { value } = test
  if (kind === 'number') return <NumberValue {...props} />
  if (kind === 'boolean') {
    return (
      <NativeSelect
        aria-label={label}
        data={[
          { value: 'true', label: 'Yes' },
          { value: 'false', label: 'No' },
        ]}
        value={String(value === true)}
        disabled={readOnly}
        onChange={(event) => onChange(event.currentTarget.value === 'true')}
      />
    )
  }
  if (kind === 'date') {
    return (
      <TextInput
        type="date"
        aria-label={label}
        value={typeof value === 'string' ? value : ''}
        readOnly={readOnly}
        onChange={(event) => onChange(event.currentTarget.value || null)}
      />
    )
  }
  return <TextValue {...props} />
}

function TextValue({ label, test, onChange, readOnly }: Props) {
  const { text, setText, flush } = useCommitted(test.value === null ? '' : String(test.value), onChange)
  return (
    <TextInput
      aria-label={label}
      placeholder="Value"
      value={text}
      readOnly={readOnly}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={flush}
    />
  )
}

function NumberValue({ label, test, onChange, readOnly, least }: Props & { least?: number }) {
  return (
    <NumberInput
      aria-label={label}
      placeholder="Number"
      value={typeof test.value === 'number' ? test.value : ''}
      readOnly={readOnly}
      allowDecimal={least === undefined}
      {...(least === undefined ? {} : { min: least })}
      onChange={(next) => onChange(typeof next === 'number' ? next : null)}
    />
  )
}

/** A value for a field of unknown type. */
function AnyValue(props: Props) {
  const { label, test, onChange, readOnly } = props
  const kind = kindOfAny(test)
  return (
    <div className={styles.any}>
      <NativeSelect
        aria-label={`Type: ${label}`}
        data={[
          { value: 'text', label: 'Text' },
          { value: 'number', label: 'Number' },
          { value: 'boolean', label: 'Yes or no' },
        ]}
        value={kind}
        disabled={readOnly}
        onChange={(event) => {
          const next = event.currentTarget.value
          if (next === 'boolean') onChange(true)
          else if (next === 'number') onChange(Number(test.value) || 0)
          else onChange(String(test.value ?? ''))
        }}
      />
      <OneValue key={kind} {...props} kind={kind} />
    </div>
  )
}

/** A choice may be a number, so lists hold its JSON. */
function ChoiceValue({ label, test, choices, onChange, readOnly }: Props & { choices: readonly JsonValue[] }) {
  const { value } = test
  const used = Array.isArray(value) ? value : value === null ? [] : [value]
  const known = new Map(
    [...choices, ...used].flatMap((one) => (isPlain(one) ? [[JSON.stringify(one), one] as const] : [])),
  )
  const data = [...known].map(([key, one]) => ({ value: key, label: String(one) }))
  if (OPERATORS[test.operator] === 'several') {
    return (
      <MultiSelect
        aria-label={label}
        placeholder={used.length === 0 ? 'Choose' : ''}
        data={data}
        value={used.map((one) => JSON.stringify(one))}
        readOnly={readOnly}
        onChange={(keys) => onChange(keys.flatMap((key) => known.get(key) ?? []))}
      />
    )
  }
  return (
    <Select
      aria-label={label}
      placeholder="Choose"
      data={data}
      value={value === null ? null : JSON.stringify(value)}
      allowDeselect={false}
      readOnly={readOnly}
      onChange={(key) => onChange(key === null ? null : (known.get(key) ?? null))}
    />
  )
}

const isPlain = (value: JsonValue | Value): value is string | number | boolean =>
  value !== null && typeof value !== 'object'

const kindOfList = (value: Value) => kindOfValue(Array.isArray(value) ? (value[0] ?? null) : null)

/** A typed entry of a list; nothing if it does not fit. */
function plain(text: string, kind: Kind): (string | number | boolean)[] {
  if (kind !== 'number') return [text]
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? [number] : []
}
