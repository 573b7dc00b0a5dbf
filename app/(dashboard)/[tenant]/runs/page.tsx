import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { inputOf } from './run-filter'
import { RunsList } from './runs-list'

export const metadata: Metadata = { title: 'Runs' }

export default async function RunsPage({
  params,
  searchParams,
}: {
  params: Promise<{ tenant: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { tenant } = await params
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  const pairs = Object.entries(await searchParams).flatMap(([name, value]) =>
    [value ?? []].flat().map((item) => [name, item]),
  )
  await prefetch(trpc.runs.list.queryOptions(inputOf(new URLSearchParams(pairs))))
  return (
    <Hydrate>
      <RunsList />
    </Hydrate>
  )
}
