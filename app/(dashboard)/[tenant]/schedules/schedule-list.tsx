'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CalendarClock, Plus } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import type { ScheduleItem } from '@/server/views/schedules/browse'
import { useTenant } from '../tenant-context'
import { DeleteScheduleDialog } from './delete-schedule-dialog'
import { ScheduleTable } from './schedule-table'

// The form is large, and only an opened dialog needs it.
const ScheduleDialog = dynamic(
  () => loadDialog(() => import('./schedule-dialog').then((module) => module.ScheduleDialog)),
  { loading: WaitingDialog },
)

type Open = { dialog: 'create' } | { dialog: 'edit' | 'delete'; schedule: ScheduleItem }

/** The times at which workflows start automatically. */
export function ScheduleList() {
  const trpc = useTRPC()
  const { may } = useTenant()
  const list = useQuery({ ...trpc.schedules.list.queryOptions(), refetchInterval: 15_000 })
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const create = () => setOpen({ dialog: 'create' })
  const allowed = may('workflow:publish')
  useSingleKeys(allowed ? { c: create } : {})
  return (
    <>
      <PageHeader
        title="Schedules"
        actions={
          allowed && (
            <Button leftSection={<Plus size={16} aria-hidden />} onClick={create}>
              New schedule
            </Button>
          )
        }
      />
      <PageBody>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton height={180} radius="md" />}
        {list.data &&
          (list.data.length > 0 ? (
            <ScheduleTable schedules={list.data} onOpen={(dialog, schedule) => setOpen({ dialog, schedule })} />
          ) : (
            <EmptyState
              icon={CalendarClock}
              title="No schedules"
              actions={
                allowed && (
                  <Button variant="default" onClick={create}>
                    New schedule
                  </Button>
                )
              }
            >
              Start a workflow automatically, such as every working day at nine.
            </EmptyState>
          ))}
      </PageBody>
      {(open?.dialog === 'create' || open?.dialog === 'edit') && (
        <ScheduleDialog schedule={open.dialog === 'edit' ? open.schedule : null} onClose={close} />
      )}
      {open?.dialog === 'delete' && <DeleteScheduleDialog schedule={open.schedule} onClose={close} />}
    </>
  )
}
