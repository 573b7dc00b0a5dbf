'use client'
import { Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import type { Role } from '@/server/roles'
import { useTenant } from '../../tenant-context'
import { CredentialDialog } from '../credential-dialog'
import { useRoles } from '../roles'
import { ShownOnce } from '../shown-once'
import { LimitFields } from './limit-fields'
import { NO_LIMITS } from './limits'

/** The roles of tokens unless an owner grants more, because browsers have the tokens. */
const USUAL: Role[] = ['viewer', 'operator']

export function CreateSecretDialog({ audience, onClose }: { audience: string; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { may } = useTenant()
  const { choices } = useRoles()
  const [limits, setLimits] = useState(NO_LIMITS)
  const create = useMutation(
    trpc.secrets.create.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.secrets.pathFilter()) }),
  )
  if (create.data) {
    const { id, secret } = create.data
    const lines = `JWT_KEY_ID=${id}\nJWT_SECRET=${secret}\nJWT_AUDIENCE=${audience}`
    return (
      <ShownOnce title={`The secret ${create.variables.name}`} what="secret" value={secret} onClose={onClose}>
        <Stack gap={6}>
          <Text size="sm" fw={500}>
            For an .env file
          </Text>
          <CodeBlock label="lines for an .env file" text={lines} wrap />
        </Stack>
      </ShownOnce>
    )
  }
  const raises = may('secret:raise-role')
  return (
    <CredentialDialog
      noun="secret"
      title="Create a signing secret"
      name={{ description: 'The backend that signs tokens with it', placeholder: 'Customer portal' }}
      role={{
        label: 'Role of its tokens',
        description: `As operator, a token can start, answer and cancel every run it can see. Choose viewer if your users only look${
          raises ? '' : '. Only owners can choose more than operator'
        }`,
        choices: choices.filter(({ value }) => raises || USUAL.includes(value)),
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
