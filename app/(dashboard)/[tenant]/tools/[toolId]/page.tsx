import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { ToolScreen } from './tool-screen'

export const metadata: Metadata = { title: 'Tool' }

export default workspacePage(
  ({ toolId }: { toolId: string }) => <ToolScreen toolId={toolId} key={toolId} />,
  (trpc, { toolId }) => [trpc.tools.open.queryOptions({ id: toolId })],
)
