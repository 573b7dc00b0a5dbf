import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { historyKey, versionsFrom } from '../panels/versions-query'
import { VersionsScreen } from './versions-screen'

export const metadata: Metadata = { title: 'Versions of a workflow' }

interface History {
  pages: { items: { version: number }[] }[]
}

export default async function Page({ params }: { params: Promise<{ tenant: string; id: string }> }) {
  const { tenant, id: encoded } = await params
  const { trpc, prefetch, prefetchFirst, known, Hydrate } = await serverTrpc(tenant)
  const id = decodeURIComponent(encoded)
  const queryKey = historyKey(trpc.workflows.versions, id)
  await Promise.all([
    prefetch(trpc.workflows.get.queryOptions({ id })),
    prefetch(trpc.workflows.openRuns.queryOptions({ id })),
    prefetch(trpc.workflows.cases.queryOptions({ id })),
    prefetchFirst(queryKey, trpc.workflows.versions.queryOptions(versionsFrom(id, 0)), 0),
  ])
  // The content shown first. Everything else stands below it, so it must not load later.
  const newest = known<History>({ queryKey })?.pages[0]?.items[0]
  if (newest) await prefetch(trpc.workflows.version.queryOptions({ id, version: String(newest.version) }))
  return (
    <Hydrate>
      <VersionsScreen workflowId={id} />
    </Hydrate>
  )
}
