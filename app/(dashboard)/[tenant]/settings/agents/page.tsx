import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { AgentSettings } from './agent-settings'

export const metadata: Metadata = { title: 'Agents' }

export default workspacePage(
  () => <AgentSettings />,
  (trpc) => [trpc.settings.agentLimits.queryOptions()],
)
