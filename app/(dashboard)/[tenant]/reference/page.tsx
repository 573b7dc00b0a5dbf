import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { ReferenceScreen } from './reference-screen'

export const metadata: Metadata = { title: 'API reference' }

export default async function WorkspaceReferencePage({
  params,
  searchParams,
}: {
  params: Promise<{ tenant: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  const { show } = await searchParams
  await Promise.all([
    prefetch(trpc.reference.open.queryOptions()),
    ...(typeof show === 'string' && show !== '' ? [prefetch(trpc.reference.read.queryOptions({ id: show }))] : []),
  ])
  return (
    <Hydrate>
      <ReferenceScreen />
    </Hydrate>
  )
}
