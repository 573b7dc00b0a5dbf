'use client'
import { Group, Input, Select, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'

export interface AmountProps {
  id: string
  label: string
  help?: string | undefined
  onBlur?: () => void
  problem?: ReactNode
  placeholder?: string | undefined
  withAsterisk?: boolean
  readOnly: boolean
  /** The dialog that contains it opens with the focus here. */
  autofocus?: boolean
}

/**
 * A number and its unit.
 * @param props.best the unit that fits the value best, or the first one to offer without a value
 * @param props.countIn the value's number in a unit; null if it is not a whole number there
 * @param props.onType gets the text of the number, which may be empty or end in a point
 */
export function AmountInput<U extends string>(
  props: AmountProps & {
    units: readonly { value: U; label: string }[]
    isEmpty: boolean
    best: U
    countIn: (unit: U) => string | null
    onType: (count: string, unit: U) => void
    beside?: ReactNode
  },
) {
  const { id, label, help, problem, placeholder, readOnly, units, isEmpty, best, countIn, onType } = props
  const [chosen, setChosen] = useState<U | null>(null)
  /** The text being typed, such as "1.", whose number equals that of "1". */
  const [typed, setTyped] = useState<string | null>(null)
  const keeps = chosen !== null && (typed !== null || isEmpty || countIn(chosen) !== null)
  const unit = keeps ? chosen : best
  const shown = typed ?? (isEmpty ? '' : (countIn(unit) ?? ''))
  function type(text: string) {
    if (!/^\d*\.?\d*$/.test(text)) return
    setTyped(text)
    // The unit does not change during typing: 1.5 hours become 90 minutes once the field loses the focus.
    setChosen(unit)
    onType(text, unit)
  }
  return (
    <Input.Wrapper
      id={id}
      label={label}
      description={help}
      error={problem}
      labelElement="label"
      withAsterisk={props.withAsterisk ?? false}
    >
      <Group gap={8} wrap="nowrap" mt={help ? 4 : 0}>
        <TextInput
          id={id}
          flex={1}
          miw={0}
          inputMode="decimal"
          autoComplete="off"
          maxLength={12}
          placeholder={placeholder}
          value={shown}
          onChange={(event) => type(event.currentTarget.value)}
          onBlur={() => {
            setTyped(null)
            props.onBlur?.()
          }}
          readOnly={readOnly}
          data-autofocus={props.autofocus || undefined}
        />
        <Select
          aria-label={`Unit of ${label.toLowerCase()}`}
          w={132}
          data={units.map(({ value, label }) => ({ value, label }))}
          value={unit}
          allowDeselect={false}
          readOnly={readOnly}
          onChange={(next) => {
            if (next === null) return
            setChosen(next as U)
            setTyped(null)
            if (!isEmpty) onType(shown, next as U)
          }}
        />
        {props.beside}
      </Group>
    </Input.Wrapper>
  )
}
