'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone, notifyError } from '@/app/_ui/notify'

export function RenameCase(props: { name: string; rename: (name: string) => Promise<unknown>; onClose: () => void }) {
  const { onClose } = props
  const [name, setName] = useState(props.name)
  const rename = useMutation({ mutationFn: props.rename, onSuccess: onClose })
  return (
    <Dialog onClose={onClose} title={`Rename “${props.name}”`}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== '') rename.mutate(name)
        }}
      >
        <Stack>
          <TextInput
            label="Name"
            required
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          {rename.error && <ErrorState error={rename.error} title="The test case was not renamed" />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={rename.isPending} disabled={name.trim() === ''}>
              Rename
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}

export function DeleteCase(props: { name: string; remove: () => Promise<unknown>; onClose: () => void }) {
  const { name, onClose } = props
  const remove = useMutation({
    mutationFn: props.remove,
    onSuccess: () => {
      onClose()
      notifyDone('The test case was deleted.')
    },
    onError: (error) => notifyError(error, 'The test case was not deleted'),
  })
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      onConfirm={() => remove.mutate()}
      title={`Delete “${name}”?`}
      confirm="Delete"
      busy={remove.isPending}
    >
      It no longer runs before publishing.
    </ConfirmDialog>
  )
}
