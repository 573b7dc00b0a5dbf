'use client'
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { underField } from '@/app/_ui/sentence'
import type { VaultItem } from '@/server/views/vault'
import { HostsInput, hostsProblem } from './hosts-input'

const HOSTS =
  'The secret is sent to these hosts and nowhere else. If you list none, anyone who can edit tools or agents can send it anywhere. Press Enter after each.'

export function SetSecretDialog({ replaces, onClose }: { replaces: VaultItem | null; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [name, setName] = useState(replaces?.name ?? '')
  const [value, setValue] = useState('')
  const [hosts, setHosts] = useState(replaces?.hosts ?? [])
  const set = useMutation(
    trpc.vault.set.mutationOptions({
      onSuccess: async ({ name, created }) => {
        await queries.invalidateQueries(trpc.vault.pathFilter())
        onClose()
        notifyDone(created ? `${name} is in the vault.` : `${name} has a new value. Calls use it from now on.`)
      },
    }),
  )
  const details = set.error ? errorOf(set.error).details : []
  const problem = (path: string) => details.find((detail) => detail.path === path)?.message
  function submit(event: FormEvent) {
    event.preventDefault()
    set.mutate({ name, value, ...(hosts.length > 0 ? { hosts } : {}) })
  }
  return (
    <Dialog onClose={onClose} title={replaces ? `Replace the value of “${replaces.name}”` : 'New secret'}>
      <form onSubmit={submit} noValidate>
        <Stack>
          {!replaces && (
            <TextInput
              label="Name"
              description="Letters, digits and _. Tools use it as ${secrets.NAME}"
              placeholder="CRM_TOKEN"
              withAsterisk
              autoComplete="off"
              error={problem('name') && underField(problem('name') ?? '')}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              data-autofocus
            />
          )}
          <PasswordInput
            label="Value"
            description="At least 12 characters. It is not shown again."
            withAsterisk
            autoComplete="off"
            error={problem('value') && underField(problem('value') ?? '')}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            data-autofocus={replaces ? true : undefined}
            visibilityToggleButtonProps={{ 'aria-label': 'Show the value' }}
          />
          <HostsInput
            hosts={hosts}
            onChange={(next) => {
              setHosts(next)
              set.reset()
            }}
            called={replaces?.calledHosts ?? []}
            description={HOSTS}
            error={set.error}
          />
          {set.error && !problem('name') && !problem('value') && !hostsProblem(set.error, hosts) && (
            <ErrorState error={set.error} title="The secret was not saved" />
          )}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={set.isPending} disabled={!name.trim() || !value}>
              {replaces ? 'Replace' : 'Create secret'}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
