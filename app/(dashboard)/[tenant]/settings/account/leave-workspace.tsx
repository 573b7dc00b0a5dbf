'use client'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { notifyError } from '@/app/_ui/notify'
import { useTenant } from '../../tenant-context'

export function LeaveWorkspace() {
  const trpc = useTRPC()
  const { name } = useTenant()
  const [asking, setAsking] = useState(false)
  const leave = useMutation(
    trpc.members.leave.mutationOptions({
      onSuccess: () => window.location.assign('/'),
      onError: (error) => notifyError(error, `You are still a member of ${name}`),
    }),
  )
  return (
    <>
      <p>You can come back only with a new invitation.</p>
      <div>
        <Button variant="default" onClick={() => setAsking(true)}>
          Leave {name}
        </Button>
      </div>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => leave.mutate()}
        title={`Leave “${name}”?`}
        confirm="Leave"
        keep="Stay"
        busy={leave.isPending}
      >
        You will lose access to {name} at once. Workflows, runs and API keys stay; your open invitation links stop
        working.
      </ConfirmDialog>
    </>
  )
}
