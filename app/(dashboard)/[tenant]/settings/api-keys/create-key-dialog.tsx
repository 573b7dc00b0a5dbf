'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { CredentialDialog } from '../credential-dialog'
import { mayOf, useRoles } from '../roles'
import { KeyShown } from './key-shown'

/** Creates a key. Its value is shown only here, so after that only the button closes the dialog. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { choices } = useRoles()
  const create = useMutation(
    trpc.keys.create.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.keys.pathFilter()) }),
  )
  if (create.data)
    return <KeyShown title={`The key “${create.variables.name}”`} value={create.data.key} onClose={onClose} />
  return (
    <CredentialDialog
      noun="key"
      title="New API key"
      name={{ description: 'Where it will be used', placeholder: 'Billing service' }}
      role={{ label: 'Role', says: mayOf, choices }}
      onCreate={(made) => create.mutate(made)}
      onClose={onClose}
      busy={create.isPending}
      error={create.error}
    />
  )
}
