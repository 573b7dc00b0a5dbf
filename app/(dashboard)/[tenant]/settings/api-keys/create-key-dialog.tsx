'use client'
import { Checkbox } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CredentialDialog } from '../credential-dialog'
import { mayOf, useRoles } from '../roles'
import { KeyShown } from './key-shown'

/** Creates a key. Its value is shown only here, so after that only the button closes the dialog. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { choices } = useRoles()
  const [checks, setChecks] = useState(false)
  const create = useMutation(
    trpc.keys.create.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.keys.pathFilter()) }),
  )
  if (create.data)
    return (
      <KeyShown
        title={`The key “${create.variables.name}”`}
        value={create.data.key}
        checks={create.data.only !== undefined}
        onClose={onClose}
      />
    )
  return (
    <CredentialDialog
      noun="key"
      title="New API key"
      name={{ description: 'Where it will be used', placeholder: 'Billing service' }}
      role={{
        label: 'Role',
        says: (role) => (checks ? 'None: it checks definitions only' : mayOf(role)),
        choices,
        disabled: checks,
      }}
      more={() => (
        <Checkbox
          label="Only to check definitions"
          description="For pull requests: it may compare definitions with this workspace and try past runs on them. It changes nothing and reads nothing else."
          checked={checks}
          onChange={(event) => setChecks(event.currentTarget.checked)}
        />
      )}
      onCreate={(made) => create.mutate({ ...made, ...(checks ? { only: 'definitions:check' } : {}) })}
      onClose={onClose}
      busy={create.isPending}
      error={create.error}
    />
  )
}
