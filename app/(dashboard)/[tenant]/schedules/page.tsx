import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { ScheduleList } from './schedule-list'

export const metadata: Metadata = { title: 'Schedules' }

export default workspacePage(
  () => <ScheduleList />,
  (trpc) => [trpc.schedules.list.queryOptions()],
)
