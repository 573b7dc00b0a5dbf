import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { InsightsScreen } from '../../../_insights/insights-screen'
import { DEFAULT_DAYS } from '../../../_insights/period'
import { requireWorkflow } from '../../require-workflow'

export const metadata: Metadata = { title: 'Insights of a workflow' }

export default async function WorkflowInsightsPage({ params }: { params: Promise<{ tenant: string; id: string }> }) {
  const { tenant, id } = await params
  const workflowId = decodeURIComponent(id)
  const { trpc, prefetch, known, Hydrate } = await serverTrpc(tenant)
  await Promise.all([
    prefetch(trpc.insights.read.queryOptions({ workflowId, days: DEFAULT_DAYS })),
    prefetch(trpc.runs.workflows.queryOptions()),
  ])
  requireWorkflow(known(trpc.runs.workflows.queryOptions()), workflowId)
  return (
    <Hydrate>
      <InsightsScreen workflowId={workflowId} />
    </Hydrate>
  )
}
