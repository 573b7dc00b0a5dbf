import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { listQuery, reader } from '../_versioned/list-query'
import { AgentList } from './agent-list'

export const metadata: Metadata = { title: 'Agents' }

export default workspacePage(
  () => <AgentList />,
  async (trpc, _, search) => [trpc.agents.list.queryOptions(listQuery(reader(await search())))],
)
