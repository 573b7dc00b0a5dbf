import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { listQuery, reader } from '../_versioned/list-query'
import { AgentList } from './agent-list'

export const metadata: Metadata = { title: 'Agents' }

export default async function AgentsPage({
  params,
  searchParams,
}: {
  params: Promise<{ tenant: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.agents.list.queryOptions(listQuery(reader(await searchParams))))
  return (
    <Hydrate>
      <AgentList />
    </Hydrate>
  )
}
