'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { Role } from '@/server/roles'
import { useTenant } from '../../tenant-context'
import { CredentialDialog } from '../credential-dialog'
import { mayOf, useRoles } from '../roles'
import { LimitFields } from './limit-fields'
import { NO_LIMITS } from './limits'
import { SecretShown } from './secret-shown'

/** The roles of tokens unless an owner grants more, because browsers hold the tokens. */
const USUAL: Role[] = ['viewer', 'operator']

export function CreateSecretDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { may } = useTenant()
  const { choices } = useRoles()
  const [limits, setLimits] = useState(NO_LIMITS)
  const create = useMutation(
    trpc.secrets.create.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.secrets.pathFilter()) }),
  )
  if (create.data)
    return <SecretShown title={`The secret “${create.variables.name}”`} made={create.data} onClose={onClose} />
  const raises = may('secret:raise-role')
  return (
    <CredentialDialog
      noun="secret"
      title="New signing secret"
      name={{ description: 'The backend that signs tokens with it', placeholder: 'Customer portal' }}
      role={{
        label: 'Role of its tokens',
        says: (role) =>
          USUAL.includes(role)
            ? `As operator, a token can start, answer and cancel every run it can see. Choose viewer if your users only look${
                raises ? '' : '. Only owners can choose more than operator'
              }`
            : mayOf(role),
        choices: choices.filter((role) => raises || USUAL.includes(role)),
      }}
      // A role above operator changes things, which limits do not cover.
      more={(role) => USUAL.includes(role) && <LimitFields limits={limits} onChange={setLimits} />}
      onCreate={(made) => create.mutate({ ...made, ...(USUAL.includes(made.role) ? limits : NO_LIMITS) })}
      onClose={onClose}
      busy={create.isPending}
      error={create.error}
    />
  )
}
