'use client'
import { Checkbox, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { useWorkflowsChanged } from './use-workflows-changed'

export function DeleteDialog({
  workflow: { id, name },
  onClose,
}: {
  workflow: { id: string; name: string }
  onClose: () => void
}) {
  const trpc = useTRPC()
  const changed = useWorkflowsChanged()
  const [terminateRuns, setTerminateRuns] = useState(false)
  const remove = useMutation(
    trpc.workflows.deletePermanently.mutationOptions({
      onSuccess: async () => {
        await changed()
        onClose()
        notifyDone(`${name} was deleted. Its runs are kept.`)
      },
    }),
  )
  const blocked = remove.error !== null && errorOf(remove.error).code === 'CONFLICT'
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      onConfirm={() => remove.mutate({ id, terminateRuns })}
      title={`Delete “${name}” permanently?`}
      confirm="Delete permanently"
      typed={name}
      busy={remove.isPending}
    >
      <Stack gap="sm">
        <Text size="sm">
          Its versions are removed and cannot be recovered. Runs stay readable, with the versions they ran on.
        </Text>
        {remove.error && <ErrorState error={remove.error} title="Not deleted" />}
        {blocked && (
          <Checkbox
            label="Terminate its open runs first"
            checked={terminateRuns}
            onChange={(event) => setTerminateRuns(event.currentTarget.checked)}
          />
        )}
      </Stack>
    </ConfirmDialog>
  )
}
