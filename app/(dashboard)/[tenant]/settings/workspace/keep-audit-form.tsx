'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { notifyDone } from '@/app/_ui/notify'
import { useTenant } from '../../tenant-context'
import { KeepDaysForm } from './keep-days-form'

export function KeepAuditForm({ days }: { days: number }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const save = useMutation(
    trpc.settings.keepAudit.mutationOptions({
      onSuccess: async (saved) => {
        notifyDone(`Entries of the audit log are kept for ${saved.days} days.`)
        await queries.invalidateQueries(trpc.settings.pathFilter())
      },
    }),
  )
  return (
    <KeepDaysForm
      label="Days to keep the audit log"
      description="Older entries are deleted for good."
      days={days}
      least={365}
      mayChange={useTenant().may('audit:delete')}
      saveText="Save days for the audit log"
      save={save}
    />
  )
}
