import 'server-only'
import type { QueryKey } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { serverTrpc } from './server'

type Trpc = Awaited<ReturnType<typeof serverTrpc>>['trpc']
type Queries = readonly ({ queryKey: QueryKey } | null | false | '')[]

interface Props<P> {
  params: Promise<P & { tenant: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

/**
 * A page of a workspace. Its first queries are read on the server, so that it renders with data.
 * @param queries by the path's parameters and those of the URL, which only a page that asks for them depends on
 * @example export default workspacePage(() => <RunList />, (trpc) => [trpc.runs.list.queryOptions({})])
 */
export function workspacePage<P = object>(
  screen: (params: P) => ReactNode,
  queries: (trpc: Trpc, params: P, search: () => Promise<URLSearchParams>) => Queries | Promise<Queries>,
) {
  return async function Page({ params: given, searchParams }: Props<P>) {
    const { tenant, ...params } = await given
    const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
    const read = await queries(trpc, params as P, async () => searchOf(await searchParams))
    await Promise.all(read.map((query) => query && prefetch(query)))
    return <Hydrate>{screen(params as P)}</Hydrate>
  }
}

export function searchOf(search: Awaited<Props<object>['searchParams']>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(search).flatMap(([name, value]) => [value ?? []].flat().map((item) => [name, item])),
  )
}
