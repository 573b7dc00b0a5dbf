import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { reader } from '../_versioned/list-query'
import { StartList } from './start-list'
import { startQuery } from './start-query'

export const metadata: Metadata = { title: 'Start' }

export default workspacePage(
  () => <StartList />,
  async (trpc, _, search) => [trpc.workflows.startable.queryOptions(startQuery(reader(await search())))],
)
