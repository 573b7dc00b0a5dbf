'use client'
import { ActionIcon, Tooltip } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { UserMinus } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { useTenant } from '../../tenant-context'
import type { Member } from './member'

export function RemoveMember({ member }: { member: Member }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { user, name: workspace } = useTenant()
  const [asking, setAsking] = useState(false)
  const isSelf = member.userId === user.id
  const remove = useMutation(
    trpc.members.remove.mutationOptions({
      onSuccess: async () => {
        if (isSelf) return window.location.assign('/')
        await queries.invalidateQueries(trpc.members.pathFilter())
        setAsking(false)
        notifyDone(`${member.name} is no longer a member.`)
      },
      onError: (error) => notifyError(error, `${member.name} was not removed`),
    }),
  )
  const label = isSelf ? `Leave ${workspace}` : `Remove ${member.name}`
  return (
    <>
      <Tooltip label={label}>
        <ActionIcon variant="subtle" color="gray" size={28} aria-label={label} onClick={() => setAsking(true)}>
          <UserMinus size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate({ userId: member.userId })}
        title={isSelf ? `Leave “${workspace}”?` : `Remove ${member.name}?`}
        confirm={isSelf ? 'Leave' : 'Remove'}
        keep={isSelf ? 'Stay' : 'Keep'}
        busy={remove.isPending}
      >
        {isSelf ? 'You will lose' : `${member.name} loses`} access to {workspace} at once. Workflows, runs and API keys
        stay; open invitation links stop working.
      </ConfirmDialog>
    </>
  )
}
