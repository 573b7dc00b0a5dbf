'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ScreenProblem } from '../../_versioned/screen-problem'
import { ScreenSkeleton } from '../../_versioned/screen-skeleton'
import { AgentEditor } from './agent-editor'

export function AgentScreen({ agentId }: { agentId: string }) {
  const trpc = useTRPC()
  const agent = useQuery({ ...trpc.agents.open.queryOptions({ id: agentId }), refetchInterval: 20_000 })
  if (agent.data) return <AgentEditor agent={agent.data} />
  if (agent.error) return <ScreenProblem noun="agent" error={agent.error} onRetry={() => agent.refetch()} />
  return <ScreenSkeleton title="Agent" />
}
