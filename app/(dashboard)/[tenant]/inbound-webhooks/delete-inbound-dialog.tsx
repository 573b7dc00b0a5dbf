'use client'
import { Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import type { InboundItem } from '@/server/views/inbound/browse'

export function DeleteInboundDialog({ webhook, onClose }: { webhook: InboundItem; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { id, workflowId, workflowName, name } = webhook
  const remove = useMutation(
    trpc.inbound.delete.mutationOptions({
      onSuccess: async () => {
        await queries.invalidateQueries(trpc.inbound.pathFilter())
        onClose()
        notifyDone(`${name} was deleted.`)
      },
    }),
  )
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      onConfirm={() => remove.mutate({ workflowId, inboundId: id })}
      title={`Delete “${name}”?`}
      confirm="Delete"
      busy={remove.isPending}
    >
      <Text size="sm">
        Its address and its deliveries are deleted for good. It will no longer start {workflowName}. Runs it has started
        are kept.
      </Text>
      {remove.error && <ErrorState error={remove.error} title="Not deleted" />}
    </ConfirmDialog>
  )
}
