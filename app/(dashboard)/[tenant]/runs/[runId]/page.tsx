import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { RunDetail } from './run-detail'

type Props = { params: Promise<{ tenant: string; runId: string }> }

export const metadata: Metadata = { title: 'Run' }

export default async function RunPage({ params }: Props) {
  const { tenant, runId } = await params
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  await Promise.all([
    prefetch(trpc.runs.overview.queryOptions({ runId })),
    prefetch(trpc.runs.timeline.queryOptions({ runId })),
  ])
  return (
    <Hydrate>
      <RunDetail key={runId} runId={runId} />
    </Hydrate>
  )
}
