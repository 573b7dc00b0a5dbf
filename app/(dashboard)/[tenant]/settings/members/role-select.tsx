'use client'
import { NativeSelect } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { roleName } from '@/app/_ui/role-name'
import type { Role } from '@/server/roles'
import { useTenant } from '../../tenant-context'
import type { Member } from './member'
import { useMemberRoles } from './use-member-roles'

/**
 * Changes a role immediately and offers undo. Users confirm a change of their own role first, because they may then be
 * unable to undo it.
 */
export function RoleSelect({ member }: { member: Member }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const router = useRouter()
  const { user } = useTenant()
  const { choices } = useMemberRoles()
  const [own, setOwn] = useState<Role | null>(null)
  const change = useMutation(
    trpc.members.changeRole.mutationOptions({
      onError: (error) => notifyError(error, `The role of ${member.name} was not changed`),
      onSettled: () => queries.invalidateQueries(trpc.members.pathFilter()),
    }),
  )
  const isSelf = member.userId === user.id

  function choose(role: Role) {
    if (isSelf) return setOwn(role)
    const { userId, role: before } = member
    change.mutate(
      { userId, role },
      {
        onSuccess: () =>
          notifyUndo(`${member.name} now has the role ${role}.`, () => change.mutate({ userId, role: before as Role })),
      },
    )
  }

  return (
    <div>
      <NativeSelect
        size="xs"
        aria-label={`Role of ${member.name}`}
        data={choices.map((role) => ({ value: role, label: roleName(role) }))}
        value={change.isPending ? change.variables.role : member.role}
        disabled={change.isPending}
        onChange={(event) => choose(event.currentTarget.value as Role)}
      />
      <ConfirmDialog
        opened={own !== null}
        onClose={() => setOwn(null)}
        onConfirm={() => {
          if (own === null) return
          const done = () => {
            setOwn(null)
            notifyDone(`Your role is now ${own}.`)
            router.refresh()
          }
          change.mutate({ userId: member.userId, role: own }, { onSuccess: done })
        }}
        title="Change your own role?"
        confirm={`Become ${own ?? ''}`}
        busy={change.isPending}
      >
        Your role in this workspace will be {own}. Only someone who can still manage members can change it back.
      </ConfirmDialog>
    </div>
  )
}
