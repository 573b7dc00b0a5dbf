'use client'
import { Button, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import type { VaultItem } from '@/server/views/vault'
import { HostsInput, hostsProblem } from './hosts-input'

/** Changes the hosts to which a secret may be sent; its value stays. */
export function BindSecretDialog({ secret, onClose }: { secret: VaultItem; onClose: () => void }) {
  const { name, calledHosts } = secret
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [hosts, setHosts] = useState(secret.hosts ?? [])
  const bind = useMutation(
    trpc.vault.bind.mutationOptions({
      onSuccess: async () => {
        await queries.invalidateQueries(trpc.vault.pathFilter())
        onClose()
        notifyDone(`${name} is sent to these hosts only from now on.`)
      },
    }),
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    bind.mutate({ name, hosts })
  }
  return (
    <Dialog onClose={onClose} title={`Edit the hosts of “${name}”`}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <HostsInput
            hosts={hosts}
            onChange={(next) => {
              setHosts(next)
              bind.reset()
            }}
            called={calledHosts}
            description="The secret is sent to these hosts and nowhere else, such as api.example.com or *.example.com. Press Enter after each."
            error={bind.error}
            autoFocus
          />
          {bind.error && !hostsProblem(bind.error, hosts) && (
            <ErrorState error={bind.error} title="The hosts were not saved" />
          )}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={bind.isPending} disabled={hosts.length === 0}>
              Save
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
