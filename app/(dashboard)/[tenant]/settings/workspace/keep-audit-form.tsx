'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { useTenant } from '../../tenant-context'

/** How long the workspace keeps its audit log. */
export function KeepAuditForm({ days }: { days: number }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const mayDelete = useTenant().may('audit:delete')
  const [text, setText] = useState(String(days))
  const value = Number(text)
  const isValid = /^\d+$/.test(text) && value >= 365 && value <= 3_650
  const save = useMutation(
    trpc.settings.keepAudit.mutationOptions({
      onSuccess: async (saved) => {
        setText(String(saved.days))
        notifyDone(`Entries of the audit log are kept for ${saved.days} days.`)
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
          label="Days to keep the audit log"
          description={mayDelete ? 'Older entries are deleted for good.' : 'Only owners can change this.'}
          inputMode="numeric"
          autoComplete="off"
          maxLength={4}
          disabled={!mayDelete}
          error={isValid ? null : 'A whole number from 365 to 3650'}
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
