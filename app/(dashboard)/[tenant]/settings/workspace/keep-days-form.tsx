'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ErrorState } from '@/app/_ui/error-state'

const MAX = 3_650

/** A number of days that the workspace keeps something; null, if it may be empty, for ever. */
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
  /** What happens after so many days, for people who may change it. */
  description: string
  days: D
  least: number
  /** What an empty field means; undefined if it has to have a number. */
  unlimited?: string
  mayChange: boolean
  /** What the button says: the page has one for each of its forms. */
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
