'use client'
import { Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import type { ScheduleItem } from '@/server/views/schedules/browse'

export function DeleteScheduleDialog({ schedule, onClose }: { schedule: ScheduleItem; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { id, workflowId, workflowName, name } = schedule
  const remove = useMutation(
    trpc.schedules.delete.mutationOptions({
      onSuccess: async () => {
        await queries.invalidateQueries(trpc.schedules.pathFilter())
        onClose()
        notifyDone(`${name} was deleted.`)
      },
    }),
  )
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      onConfirm={() => remove.mutate({ workflowId, scheduleId: id })}
      title={`Delete “${name}”?`}
      confirm="Delete"
      busy={remove.isPending}
    >
      <Text size="sm">It will no longer start {workflowName}. Runs it has started are kept.</Text>
      {remove.error && <ErrorState error={remove.error} title="Not deleted" />}
    </ConfirmDialog>
  )
}
