import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { WhatIfScreen } from './what-if-screen'

export const metadata: Metadata = { title: 'What if' }

export default workspacePage(
  ({ runId }: { runId: string }) => <WhatIfScreen key={runId} runId={runId} />,
  (trpc, { runId }) => [trpc.runs.overview.queryOptions({ runId }), trpc.runs.definition.queryOptions({ runId })],
)
