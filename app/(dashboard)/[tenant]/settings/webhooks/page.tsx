import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { WebhookList } from './webhook-list'

export const metadata: Metadata = { title: 'Webhooks' }

export default async function WebhooksPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.webhooks.list.queryOptions())
  return (
    <Hydrate>
      <WebhookList />
    </Hydrate>
  )
}
