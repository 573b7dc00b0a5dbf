'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ErrorState } from '@/app/_ui/error-state'

const MAX = 3_650

/** A retention period in days; null, where it may be empty, means forever. */
export function KeepDaysForm<D extends number | null>({
  label,
  description,
  days,
  least,
  unlimited,
  mayChange,
  saveText,
  save,
}: {
  label: string
  /** What happens after this many days, for users who may change it. */
  description: string
  days: D
  least: number
  /** The meaning of an empty field; undefined if a number is required. */
  unlimited?: string
  mayChange: boolean
  /** The button's text: the page has one for each of its forms. */
  saveText: string
  save: {
    mutate: (input: { days: D }, options: { onSuccess: (saved: { days: D }) => void }) => void
    reset: () => void
    isPending: boolean
    error: unknown
  }
}) {
  const [text, setText] = useState(String(days ?? ''))
  const value = text === '' && unlimited !== undefined ? null : Number(text)
  const isValid = value === null || (/^\d+$/.test(text) && value >= least && value <= MAX)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isValid) save.mutate({ days: value as D }, { onSuccess: (saved) => setText(String(saved.days ?? '')) })
      }}
    >
      <Stack gap="sm" align="flex-start">
        <TextInput
          w="100%"
          label={label}
          description={mayChange ? description : 'Only owners can change this.'}
          placeholder={unlimited}
          inputMode="numeric"
          autoComplete="off"
          maxLength={4}
          disabled={!mayChange}
          error={isValid ? null : `A whole number from ${least} to ${MAX}`}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value.trim())
            save.reset()
          }}
        />
        {save.error ? <ErrorState error={save.error} title="The setting was not saved" /> : null}
        {mayChange && (
          <Button type="submit" variant="default" loading={save.isPending} disabled={!isValid || value === days}>
            {saveText}
          </Button>
        )}
      </Stack>
    </form>
  )
}
