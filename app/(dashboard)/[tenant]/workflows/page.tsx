import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { reader } from '../_versioned/list-query'
import { readListQuery } from './list-query'
import { WorkflowList } from './workflow-list'

export const metadata: Metadata = { title: 'Workflows' }

export default workspacePage(
  () => <WorkflowList />,
  async (trpc, _, search) => [trpc.workflows.list.queryOptions(readListQuery(reader(await search())))],
)
