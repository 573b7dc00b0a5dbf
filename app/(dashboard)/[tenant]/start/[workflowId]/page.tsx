import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { StartPage } from './start-page'

export const metadata: Metadata = { title: 'Start' }

export default workspacePage(
  ({ workflowId }: { workflowId: string }) => <StartPage workflowId={workflowId} key={workflowId} />,
  (trpc, { workflowId }) => [trpc.workflows.startPage.queryOptions({ id: workflowId })],
)
