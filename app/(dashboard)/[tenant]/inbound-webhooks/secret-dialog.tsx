'use client'
import { PasswordInput, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { ErrorState } from '@/app/_ui/error-state'
import type { InboundItem } from '@/server/views/inbound/browse'
import { SECRET_HELP } from './schemes'

/** Sets or rotates the secret: the sender's own, or a generated one, shown once. */
export function SecretDialog(props: {
  webhook: InboundItem
  onClose: () => void
  onSaved: (secret: string | null) => void
}) {
  const { webhook, onClose, onSaved } = props
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [secret, setSecret] = useState('')
  const isFirst = webhook.secrets.length === 0
  const rotate = useMutation(
    trpc.inbound.rotate.mutationOptions({
      onSuccess: async ({ secret }) => {
        onSaved(secret)
        await queries.invalidateQueries(trpc.inbound.pathFilter())
      },
    }),
  )
  const problem = rotate.error && errorOf(rotate.error).details.find(({ path }) => path === 'secret')
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      onConfirm={() =>
        rotate.mutate({ workflowId: webhook.workflowId, inboundId: webhook.id, body: secret ? { secret } : {} })
      }
      title={isFirst ? `Set the secret of “${webhook.name}”` : `Rotate the secret of “${webhook.name}”?`}
      confirm={isFirst ? 'Set' : 'Rotate'}
      harmless
      busy={rotate.isPending}
    >
      {!isFirst && <Text size="sm">For 24 hours the old secret is accepted as well.</Text>}
      <PasswordInput
        label="Secret of the sender"
        description={SECRET_HELP[webhook.scheme]}
        autoComplete="off"
        error={problem && `The secret ${problem.message}`}
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
        data-autofocus
      />
      {rotate.error && !problem && <ErrorState error={rotate.error} title="The secret was not changed" />}
    </ConfirmDialog>
  )
}
