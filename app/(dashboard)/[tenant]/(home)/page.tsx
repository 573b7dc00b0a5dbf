import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { Home } from '../_home/home'

export const metadata: Metadata = { title: 'Home' }

export default async function HomePage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await Promise.all([
    prefetch(trpc.home.checklist.queryOptions()),
    prefetch(trpc.home.pulse.queryOptions()),
    prefetch(trpc.tasks.list.queryOptions({ limit: 5 })),
    prefetch(trpc.runs.list.queryOptions({ limit: 6 })),
    prefetch(trpc.workflows.list.queryOptions({ status: 'published', limit: 6 })),
  ])
  return (
    <Hydrate>
      <Home />
    </Hydrate>
  )
}
