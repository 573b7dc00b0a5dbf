import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { Home } from '../_home/home'

export const metadata: Metadata = { title: 'Home' }

export default workspacePage(
  () => <Home />,
  (trpc) => [
    trpc.home.checklist.queryOptions(),
    trpc.home.pulse.queryOptions(),
    trpc.tasks.list.queryOptions({ limit: 5 }),
    trpc.runs.list.queryOptions({ limit: 6 }),
    trpc.workflows.list.queryOptions({ status: 'published', limit: 6 }),
  ],
)
