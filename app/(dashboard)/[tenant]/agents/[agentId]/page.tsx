import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { AgentScreen } from './agent-screen'

export const metadata: Metadata = { title: 'Agent' }

export default workspacePage(
  ({ agentId }: { agentId: string }) => <AgentScreen agentId={agentId} key={agentId} />,
  (trpc, { agentId }) => [trpc.agents.open.queryOptions({ id: agentId })],
)
