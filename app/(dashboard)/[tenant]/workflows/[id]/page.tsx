import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { Editor } from './editor/editor'

export const metadata: Metadata = { title: 'Workflow' }

export default async function Page({ params }: { params: Promise<{ tenant: string; id: string }> }) {
  const { tenant, id } = await params
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  const workflowId = decodeURIComponent(id)
  await Promise.all([
    prefetch(trpc.workflows.get.queryOptions({ id: workflowId })),
    prefetch(trpc.steps.catalog.queryOptions()),
  ])
  return (
    <Hydrate>
      <Editor workflowId={workflowId} />
    </Hydrate>
  )
}
