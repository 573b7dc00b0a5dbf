import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { WorkspaceSettings } from './workspace-settings'

export const metadata: Metadata = { title: 'Workspace' }

export default workspacePage(
  () => <WorkspaceSettings />,
  (trpc) => [trpc.settings.get.queryOptions()],
)
