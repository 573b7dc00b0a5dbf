'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { notifyDone } from '@/app/_ui/notify'
import { useTenant } from '../../tenant-context'
import { KeepDaysForm } from './keep-days-form'

export function KeepRunsForm({ days }: { days: number | null }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const save = useMutation(
    trpc.settings.keepRuns.mutationOptions({
      onSuccess: async (saved) => {
        notifyDone(saved.days === null ? 'Runs are kept.' : 'Old runs will be deleted.')
        await queries.invalidateQueries(trpc.settings.pathFilter())
      },
    }),
  )
  return (
    <KeepDaysForm
      label="Days to keep runs"
      description="Runs that ended longer ago are deleted for good, with their history and files. Leave it empty to keep them."
      days={days}
      least={1}
      unlimited="No limit"
      mayChange={useTenant().may('run:delete')}
      saveText="Save days for runs"
      save={save}
    />
  )
}
