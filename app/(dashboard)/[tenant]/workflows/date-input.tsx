'use client'
import { TextInput, type TextInputProps } from '@mantine/core'
import type { SyntheticEvent } from 'react'

/** A date that is only partly typed: a browser does not reveal its text, and forms refuse this value. */
const HALF_TYPED = 'half-typed'

/** A date as a browser’s own field. One that is typed in part is an error rather than no date. */
export function DateInput({
  value,
  onChange,
  error,
  ...rest
}: Omit<TextInputProps, 'value' | 'onChange' | 'type'> & { value: string; onChange: (text: string) => void }) {
  const isHalf = value === HALF_TYPED
  const read = (input: HTMLInputElement) => onChange(input.validity.badInput ? HALF_TYPED : input.value)
  // The first parts of a date cause no change.
  const look = ({ currentTarget: input }: SyntheticEvent<HTMLInputElement>) => {
    if (input.validity.badInput !== isHalf) read(input)
  }
  return (
    <TextInput
      {...rest}
      type="date"
      autoComplete="off"
      value={isHalf ? '' : value}
      error={error ?? (isHalf ? 'Must be a date' : undefined)}
      onChange={(event) => read(event.currentTarget)}
      onBlur={look}
      onKeyDown={(event) => event.key === 'Enter' && look(event)}
    />
  )
}
