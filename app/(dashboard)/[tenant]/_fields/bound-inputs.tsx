'use client'
import { TextInput } from '@mantine/core'
import type { JsonValue } from '@/server/definition/json'
import { parseExact } from '@/server/definition/long-numbers'
import styles from './bound-inputs.module.css'
import { type LimitProps, useTyped } from './use-typed'

/** The least and the greatest value of a number field. */
export function BoundInputs(
  props: LimitProps & {
    minimum: JsonValue | undefined
    maximum: JsonValue | undefined
    onChange: (bounds: { minimum?: number | undefined; maximum?: number | undefined }) => void
  },
) {
  const { minimum, maximum, onChange, ...shared } = props
  const reversed = typeof minimum === 'number' && typeof maximum === 'number' && minimum > maximum
  return (
    <>
      <BoundInput {...shared} label="Minimum" value={minimum} onChange={(next) => onChange({ minimum: next })} />
      <BoundInput
        {...shared}
        label="Maximum"
        value={maximum}
        problem={reversed ? 'Less than the minimum' : null}
        onChange={(next) => onChange({ maximum: next })}
      />
    </>
  )
}

function BoundInput(
  props: LimitProps & {
    label: string
    value: JsonValue | undefined
    problem?: string | null
    onChange: (value: number | undefined) => void
  },
) {
  const { called, size, label, value, problem = null, readOnly, onChange } = props
  const [text, setText] = useTyped(typeof value === 'number' ? String(value) : '', (typed) =>
    String(readBound(typed) ?? ''),
  )
  return (
    <TextInput
      size={size}
      inputMode="decimal"
      autoComplete="off"
      aria-label={`${label} of ${called}`}
      leftSection={<span className={styles.bound}>{label.slice(0, 3)}</span>}
      leftSectionWidth={44}
      value={text}
      readOnly={readOnly}
      error={text.trim() !== '' && readBound(text) === undefined ? 'Enter a number' : problem}
      onChange={(event) => {
        setText(event.currentTarget.value)
        onChange(readBound(event.currentTarget.value))
      }}
    />
  )
}

/** Undefined for a number that would be stored as another one. */
function readBound(text: string): number | undefined {
  try {
    // `1.` is on the way to `1.5`.
    const number = parseExact(text.trim().replace(/\.$/, ''))
    return typeof number === 'number' ? number : undefined
  } catch {
    return undefined
  }
}
