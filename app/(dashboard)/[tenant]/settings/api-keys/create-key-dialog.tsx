'use client'
import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import type { Role } from '@/server/roles'
import { useRoles } from '../roles'
import { KeyShown } from './key-shown'

/** Makes a key. Its value is shown here and never again, so only the button closes the dialog then. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { choices } = useRoles()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('operator')
  const [problem, setProblem] = useState<string | null>(null)
  const create = useMutation(
    trpc.keys.create.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.keys.pathFilter()) }),
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    setProblem(name.trim() ? null : 'A key needs a name')
    if (name.trim()) create.mutate({ name, role })
  }
  if (create.data) return <KeyShown title={`The key ${name}`} value={create.data.key} onClose={onClose} />
  return (
    <Modal opened onClose={onClose} title="Create an API key" centered>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Name"
            description="Where it will be used"
            placeholder="Billing service"
            withAsterisk
            maxLength={200}
            autoComplete="off"
            error={problem}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <NativeSelect
            label="Role"
            description="What calls with it may do"
            data={choices}
            value={role}
            onChange={(event) => setRole(event.currentTarget.value as Role)}
          />
          {create.error && <ErrorState error={create.error} title="The key was not made" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create key
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
