'use client'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { JsonValue } from '@/server/definition/json'
import { choicesText, readChoices } from './choices'
import styles from './limit-inputs.module.css'

interface Shared {
  /** The field's name, for labels. */
  called: string
  size: 'xs' | 'sm'
  readOnly: boolean
}

/** The choices of a field, as a text such as `a, b, c`. */
export function ChoicesInput(
  props: Shared & {
    type: string
    value: readonly JsonValue[] | undefined
    onChange: (choices: JsonValue[] | undefined) => void
  },
) {
  const { called, size, type, value, readOnly, onChange } = props
  const [text, setText] = useTyped(choicesText(value), (typed) => choicesText(readChoices(typed, type)))
  return (
    <TextInput
      size={size}
      aria-label={`Choices of ${called}`}
      placeholder={readOnly ? 'Any' : 'Choices: a, b, c'}
      value={text}
      readOnly={readOnly}
      onChange={(event) => {
        setText(event.currentTarget.value)
        onChange(readChoices(event.currentTarget.value, type))
      }}
    />
  )
}

/** The least and the greatest value of a number field. */
export function BoundInputs(
  props: Shared & {
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
  props: Shared & {
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

/** A text as typed while it means the stored value, such as `1.` on the way to `1.5`. */
function useTyped(stored: string, meaning: (text: string) => string) {
  const [text, setText] = useState(stored)
  return [meaning(text) === stored ? text : stored, setText] as const
}

function readBound(text: string): number | undefined {
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : undefined
}
