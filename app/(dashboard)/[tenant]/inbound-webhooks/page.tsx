import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { InboundList } from './inbound-list'

export const metadata: Metadata = { title: 'Inbound webhooks' }

export default async function InboundPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.inbound.list.queryOptions())
  return (
    <Hydrate>
      <InboundList />
    </Hydrate>
  )
}
