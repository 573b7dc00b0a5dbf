import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { RunsList } from '../../../runs/runs-list'

export const metadata: Metadata = { title: 'Runs of a workflow' }

export default async function WorkflowRunsPage({ params }: { params: Promise<{ tenant: string; id: string }> }) {
  const { tenant, id } = await params
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  await prefetch(trpc.runs.workflows.queryOptions())
  return (
    <Hydrate>
      <RunsList workflowId={decodeURIComponent(id)} />
    </Hydrate>
  )
}
