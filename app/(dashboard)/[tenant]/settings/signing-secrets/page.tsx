import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { SecretList } from './secret-list'

export const metadata: Metadata = { title: 'Signing secrets' }

export default async function SigningSecretsPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.secrets.list.queryOptions())
  return (
    <Hydrate>
      <SecretList />
    </Hydrate>
  )
}
