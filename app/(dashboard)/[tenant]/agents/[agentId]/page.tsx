import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { AgentScreen } from './agent-screen'

export const metadata: Metadata = { title: 'Agent' }

export default async function AgentPage({ params }: { params: Promise<{ tenant: string; agentId: string }> }) {
  const { tenant, agentId } = await params
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  await prefetch(trpc.agents.open.queryOptions({ id: agentId }))
  return (
    <Hydrate>
      <AgentScreen agentId={agentId} key={agentId} />
    </Hydrate>
  )
}
