import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { VaultList } from './vault-list'

export const metadata: Metadata = { title: 'Vault' }

export default async function VaultPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.vault.list.queryOptions())
  return (
    <Hydrate>
      <VaultList />
    </Hydrate>
  )
}
