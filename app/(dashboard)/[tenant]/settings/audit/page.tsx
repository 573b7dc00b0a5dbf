import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { inputOf } from './audit-filter'
import { AuditLog } from './audit-log'

export const metadata: Metadata = { title: 'Audit log' }

export default async function AuditPage({
  params,
  searchParams,
}: {
  params: Promise<{ tenant: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  const pairs = Object.entries(await searchParams).flatMap(([name, value]) =>
    [value ?? []].flat().map((item) => [name, item]),
  )
  await Promise.all([
    prefetch(trpc.audit.list.queryOptions(inputOf(new URLSearchParams(pairs)))),
    prefetch(trpc.audit.actors.queryOptions()),
  ])
  return (
    <Hydrate>
      <AuditLog />
    </Hydrate>
  )
}
