'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { RotateCredential } from '../rotate-credential'
import { SecretShown } from './secret-shown'

/** Replaces a signing secret with a new one. Tokens of the old one work for a while longer. */
export function RotateDialog({ secret, onClose }: { secret: { id: string; name: string }; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const rotate = useMutation(
    trpc.secrets.rotate.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.secrets.pathFilter()) }),
  )
  if (rotate.data) return <SecretShown title={`The new secret “${secret.name}”`} made={rotate.data} onClose={onClose} />
  return (
    <RotateCredential
      noun="secret"
      name={secret.name}
      says="This creates a new secret with the same name, role and limits, and shows its value once. Its kid is new too."
      question="Tokens of the old secret keep working"
      overlaps={[
        'As long as a token may be valid, so that none is refused before its time',
        'When your backend signs tokens for at most an hour',
        'If the old secret leaked. Calls with its tokens get 401 immediately',
      ]}
      busy={rotate.isPending}
      error={rotate.error}
      onRotate={(graceMs) => rotate.mutate({ id: secret.id, graceMs })}
      onClose={onClose}
    />
  )
}
