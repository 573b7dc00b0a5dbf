import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { RunsList } from '../../../runs/runs-list'
import { requireWorkflow } from '../../require-workflow'

export const metadata: Metadata = { title: 'Runs of a workflow' }

export default async function WorkflowRunsPage({ params }: { params: Promise<{ tenant: string; id: string }> }) {
  const { tenant, id } = await params
  const workflowId = decodeURIComponent(id)
  const { trpc, prefetch, known, Hydrate } = await serverTrpc(tenant)
  await prefetch(trpc.runs.workflows.queryOptions())
  requireWorkflow(known(trpc.runs.workflows.queryOptions()), workflowId)
  return (
    <Hydrate>
      <RunsList workflowId={workflowId} />
    </Hydrate>
  )
}
