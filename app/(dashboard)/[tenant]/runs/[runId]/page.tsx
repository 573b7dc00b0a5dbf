import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { RunDetail } from './run-detail'

export const metadata: Metadata = { title: 'Run' }

export default workspacePage(
  ({ runId }: { runId: string }) => <RunDetail key={runId} runId={runId} />,
  (trpc, { runId }) => [trpc.runs.overview.queryOptions({ runId }), trpc.runs.timeline.queryOptions({ runId })],
)
