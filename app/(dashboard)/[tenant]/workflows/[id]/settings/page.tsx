import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { SettingsScreen } from './settings-screen'

export const metadata: Metadata = { title: 'Settings of a workflow' }

export default workspacePage(
  ({ id }: { id: string }) => <SettingsScreen workflowId={decodeURIComponent(id)} />,
  (trpc, { id }) => [trpc.workflows.get.queryOptions({ id: decodeURIComponent(id) })],
)
