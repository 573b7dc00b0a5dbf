'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { underField } from '@/app/_ui/sentence'
import type { Role } from '@/server/roles'
import { RoleField } from '../role-field'
import { mayOf } from '../roles'
import { InvitationLink } from './invitation-link'
import { useMemberRoles } from './use-member-roles'

/** Creates a link for one person. It is shown only here; a new one can replace it. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { choices } = useMemberRoles()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('editor')
  const invite = useMutation(
    trpc.members.invite.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.members.pathFilter()) }),
  )
  const ofEmail = invite.error ? errorOf(invite.error).details.find(({ path }) => path === 'email')?.message : undefined
  function submit(event: FormEvent) {
    event.preventDefault()
    invite.mutate({ email: email.trim(), role })
  }
  if (invite.data) return <InvitationLink {...invite.data} onClose={onClose} />
  return (
    <Dialog onClose={onClose} title="Invite someone">
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Email"
            type="email"
            description="The person who opens the link joins with this email"
            autoComplete="off"
            withAsterisk
            error={ofEmail && underField(ofEmail)}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            data-autofocus
          />
          <RoleField label="Role" choices={choices} description={mayOf(role)} value={role} onChange={setRole} />
          {invite.error && !ofEmail && <ErrorState error={invite.error} title="The invitation was not created" />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={invite.isPending} disabled={!email.trim()}>
              Create link
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
