'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'

export function SaveViewDialog({ query, onClose }: { query: string; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const save = useMutation(
    trpc.members.saveRunView.mutationOptions({
      onSuccess(views) {
        queries.setQueryData(trpc.members.runViews.queryKey(), views)
        onClose()
      },
    }),
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    save.mutate({ name, query })
  }
  return (
    <Dialog onClose={onClose} title="Save view">
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Name"
            description="Keeps the search and the filters, but not the time. Only you see it. A view with the same name is replaced."
            placeholder="Refunds that failed"
            withAsterisk
            maxLength={60}
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          {save.error && <ErrorState error={save.error} title="The view was not saved" />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!name.trim()}>
              Save
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
