'use client'
import { TextInput } from '@mantine/core'
import type { JsonValue } from '@/server/definition/json'
import { choicesText, meansChoices, readChoices } from './choices'
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
  const fixed = !meansChoices(text, type, value)
  return (
    <TextInput
      size={size}
      aria-label={`Choices of ${called}`}
      placeholder={readOnly ? 'Any' : 'Choices: a, b, c'}
      value={text}
      readOnly={readOnly || fixed}
      title={fixed ? 'A comma cannot be entered here. Change these choices as JSON.' : undefined}
      onChange={(event) => {
        setText(event.currentTarget.value)
        onChange(readChoices(event.currentTarget.value, type))
      }}
    />
  )
}
