import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { GroupList } from './group-list'

export const metadata: Metadata = { title: 'Groups' }

export default workspacePage(
  () => <GroupList />,
  (trpc) => [trpc.groups.list.queryOptions(), trpc.members.list.queryOptions()],
)
