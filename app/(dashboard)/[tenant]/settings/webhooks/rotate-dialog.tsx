'use client'
import { Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { ErrorState } from '@/app/_ui/error-state'
import type { WebhookEndpoint } from '@/server/webhooks/present'
import { calledOf } from './called'

export function RotateDialog(props: {
  webhook: WebhookEndpoint
  onClose: () => void
  onRotated: (secret: string) => void
}) {
  const { webhook, onClose, onRotated } = props
  const trpc = useTRPC()
  const queries = useQueryClient()
  const rotate = useMutation(
    trpc.webhooks.rotate.mutationOptions({
      onSuccess: async ({ secret }) => {
        onRotated(secret)
        await queries.invalidateQueries(trpc.webhooks.pathFilter())
      },
    }),
  )
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      onConfirm={() => rotate.mutate({ id: webhook.id, body: {} })}
      title={`Rotate the secret of “${calledOf(webhook)}”?`}
      confirm="Rotate"
      harmless
      busy={rotate.isPending}
    >
      <Text size="sm">
        This creates a new secret and shows it once. For 24 hours messages are signed with both, so your service can
        switch to the new one at any time.
      </Text>
      {rotate.error && <ErrorState error={rotate.error} title="The secret was not rotated" />}
    </ConfirmDialog>
  )
}
