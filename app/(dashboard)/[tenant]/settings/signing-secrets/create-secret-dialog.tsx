'use client'
import { Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { ErrorState } from '@/app/_ui/error-state'
import type { Role } from '@/server/roles'
import { useTenant } from '../../tenant-context'
import { useRoles } from '../roles'
import { ShownOnce } from '../shown-once'

/** What a token may do unless an owner gives it more: it lives in somebody's browser. */
const USUAL: Role[] = ['viewer', 'operator']

export function CreateSecretDialog({ audience, onClose }: { audience: string; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { may } = useTenant()
  const { choices } = useRoles()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('operator')
  const [problem, setProblem] = useState<string | null>(null)
  const create = useMutation(
    trpc.secrets.create.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.secrets.pathFilter()) }),
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    setProblem(name.trim() ? null : 'A secret needs a name')
    if (name.trim()) create.mutate({ name, role })
  }
  if (create.data) {
    const { id, secret } = create.data
    const lines = `JWT_KEY_ID=${id}\nJWT_SECRET=${secret}\nJWT_AUDIENCE=${audience}`
    return (
      <ShownOnce title={`The secret ${name}`} what="secret" value={secret} onClose={onClose}>
        <Stack gap={6}>
          <Text size="sm" fw={500}>
            For an .env file
          </Text>
          <CodeBlock label="lines for an .env file" text={lines} wrap />
        </Stack>
      </ShownOnce>
    )
  }
  return (
    <Modal opened onClose={onClose} title="Create a signing secret" centered>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Name"
            description="The backend that signs with it"
            placeholder="Customer portal"
            withAsterisk
            maxLength={200}
            autoComplete="off"
            error={problem}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <NativeSelect
            label="Role of its tokens"
            description={
              may('secret:raise-role')
                ? 'Tokens live in browsers: more than operator is rarely right'
                : 'Only an owner can give tokens more than operator'
            }
            data={choices.filter(({ value }) => may('secret:raise-role') || USUAL.includes(value))}
            value={role}
            onChange={(event) => setRole(event.currentTarget.value as Role)}
          />
          {create.error && <ErrorState error={create.error} title="The secret was not made" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create secret
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
