import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { KeyList } from './key-list'

export const metadata: Metadata = { title: 'API keys' }

export default async function ApiKeysPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.keys.list.queryOptions())
  return (
    <Hydrate>
      <KeyList />
    </Hydrate>
  )
}
