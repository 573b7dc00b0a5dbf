import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { ScheduleList } from './schedule-list'

export const metadata: Metadata = { title: 'Schedules' }

export default async function SchedulesPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.schedules.list.queryOptions())
  return (
    <Hydrate>
      <ScheduleList />
    </Hydrate>
  )
}
