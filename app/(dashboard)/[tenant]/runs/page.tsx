import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { filterOf, inputOf } from './run-filter'
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
  const input = inputOf(new URLSearchParams(pairs))
  await Promise.all([
    prefetch(trpc.runs.list.queryOptions(input)),
    prefetch(trpc.runs.totals.queryOptions(filterOf(input))),
  ])
  return (
    <Hydrate>
      <RunsList />
    </Hydrate>
  )
}
