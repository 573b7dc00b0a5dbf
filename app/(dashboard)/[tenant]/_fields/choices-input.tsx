'use client'
import { TextInput } from '@mantine/core'
import type { JsonValue } from '@/server/definition/json'
import { choicesText, readChoices } from './choices'
import { type LimitProps, useTyped } from './use-typed'

/** The choices of a field, as a text such as `a, b, c`. */
export function ChoicesInput(
  props: LimitProps & {
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
