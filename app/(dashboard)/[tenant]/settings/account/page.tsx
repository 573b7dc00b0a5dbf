import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { AccountSettings } from './account-settings'

export const metadata: Metadata = { title: 'Your account' }

export default async function AccountPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.account.get.queryOptions())
  return (
    <Hydrate>
      <AccountSettings />
    </Hydrate>
  )
}
