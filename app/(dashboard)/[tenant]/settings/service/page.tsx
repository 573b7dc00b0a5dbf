import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { ServiceScreen } from './service-screen'

export const metadata: Metadata = { title: 'Service' }

export default async function ServicePage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.service.read.queryOptions())
  return (
    <Hydrate>
      <ServiceScreen />
    </Hydrate>
  )
}
