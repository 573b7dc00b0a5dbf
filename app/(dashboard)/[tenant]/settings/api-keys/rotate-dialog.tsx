'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { RotateCredential } from '../rotate-credential'
import { KeyShown } from './key-shown'

/** Replaces a key with a new one. The old key works for a while longer. */
export function RotateDialog({ apiKey, onClose }: { apiKey: { id: string; name: string }; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const rotate = useMutation(
    trpc.keys.rotate.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.keys.pathFilter()) }),
  )
  if (rotate.data)
    return (
      <KeyShown
        title={`The new key “${apiKey.name}”`}
        value={rotate.data.key}
        checks={rotate.data.only !== undefined}
        onClose={onClose}
      />
    )
  return (
    <RotateCredential
      noun="key"
      name={apiKey.name}
      says="This creates a new key with the same name and role, and shows its value once."
      question="The old key keeps working"
      overlaps={[
        'Time to give every caller the new key',
        'When there are few callers to update',
        'If the old key leaked. Callers still using it get 401 immediately',
      ]}
      busy={rotate.isPending}
      error={rotate.error}
      onRotate={(graceMs) => rotate.mutate({ id: apiKey.id, graceMs })}
      onClose={onClose}
    />
  )
}
