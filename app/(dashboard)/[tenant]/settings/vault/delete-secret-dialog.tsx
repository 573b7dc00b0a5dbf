'use client'
import { Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import type { VaultItem } from '@/server/views/vault'

export function DeleteSecretDialog({ secret, onClose }: { secret: VaultItem; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const remove = useMutation(
    trpc.vault.delete.mutationOptions({
      onSuccess: async ({ name }) => {
        await queries.invalidateQueries(trpc.vault.pathFilter())
        onClose()
        notifyDone(`${name} was deleted.`)
      },
    }),
  )
  const users = secret.usedBy.map(({ name }) => name).join(', ')
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      onConfirm={() => remove.mutate({ name: secret.name })}
      title={`Delete “${secret.name}”?`}
      confirm="Delete"
      typed={secret.name}
      busy={remove.isPending}
    >
      <Stack gap="sm">
        <Text size="sm">
          The value cannot be recovered.{' '}
          {users ? `These use it and may fail: ${users}.` : 'No tool or agent uses it in its latest version.'}
        </Text>
        {remove.error && <ErrorState error={remove.error} title="Not deleted" />}
      </Stack>
    </ConfirmDialog>
  )
}
