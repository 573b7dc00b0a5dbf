'use client'
import { Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import type { WebhookEndpoint } from '@/server/webhooks/present'
import { calledOf } from './called'

export function DeleteWebhookDialog({ webhook, onClose }: { webhook: WebhookEndpoint; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const remove = useMutation(
    trpc.webhooks.delete.mutationOptions({
      onSuccess: async () => {
        await queries.invalidateQueries(trpc.webhooks.pathFilter())
        onClose()
        notifyDone('The webhook was deleted.')
      },
    }),
  )
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      onConfirm={() => remove.mutate({ id: webhook.id })}
      title={`Delete “${calledOf(webhook)}”?`}
      confirm="Delete"
      busy={remove.isPending}
    >
      <Text size="sm">
        {webhook.url} gets no more messages. Its deliveries are deleted too
        {webhook.waiting > 0 ? `, ${webhook.waiting} of which are still waiting.` : '.'}
      </Text>
      {remove.error && <ErrorState error={remove.error} title="Not deleted" />}
    </ConfirmDialog>
  )
}
