import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { Editor } from './editor/editor'

export const metadata: Metadata = { title: 'Workflow' }

export default workspacePage(
  ({ id }: { id: string }) => <Editor workflowId={decodeURIComponent(id)} />,
  (trpc, { id }) => [
    trpc.workflows.get.queryOptions({ id: decodeURIComponent(id) }),
    trpc.steps.catalog.queryOptions(),
  ],
)
