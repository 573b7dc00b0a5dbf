'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { useTenant } from '../../tenant-context'

/** How long the workspace keeps its runs. */
export function KeepRunsForm({ days }: { days: number | null }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const mayDelete = useTenant().may('run:delete')
  const [text, setText] = useState(String(days ?? ''))
  const value = text === '' ? null : Number(text)
  const isValid = value === null || (/^\d+$/.test(text) && value >= 1 && value <= 3_650)
  const save = useMutation(
    trpc.settings.keepRuns.mutationOptions({
      onSuccess: async (saved) => {
        setText(String(saved.days ?? ''))
        notifyDone(saved.days === null ? 'Runs are kept.' : 'Old runs will be deleted.')
        await queries.invalidateQueries(trpc.settings.pathFilter())
      },
    }),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isValid) save.mutate({ days: value })
      }}
    >
      <Stack gap="sm" align="flex-start">
        <TextInput
          w="100%"
          label="Days to keep runs"
          description={
            mayDelete
              ? 'Runs that ended longer ago are deleted for good, with their history and files. Leave it empty to keep them.'
              : 'Only owners can change this.'
          }
          placeholder="No limit"
          inputMode="numeric"
          autoComplete="off"
          maxLength={4}
          disabled={!mayDelete}
          error={isValid ? null : 'A whole number from 1 to 3650'}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value.trim())
            save.reset()
          }}
        />
        {save.error && <ErrorState error={save.error} title="The setting was not saved" />}
        {mayDelete && (
          <Button type="submit" variant="default" loading={save.isPending} disabled={!isValid || value === days}>
            Save
          </Button>
        )}
      </Stack>
    </form>
  )
}
