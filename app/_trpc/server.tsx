import 'server-only'
import { randomUUID } from 'node:crypto'
import {
  dehydrate,
  type FetchInfiniteQueryOptions,
  type FetchQueryOptions,
  HydrationBoundary,
  type QueryClient,
  type QueryKey,
} from '@tanstack/react-query'
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query'
import { headers } from 'next/headers'
import type { ReactNode } from 'react'
import { appRouter } from '@/server/trpc/root'
import { makeQueryClient } from './query-client'

/**
 * Prefetches on the server what the page's client components will query first, so that they render with data. If a
 * query fails here, the client simply repeats it and shows the error.
 * @example
 * const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
 * await prefetch(trpc.runs.list.queryOptions({}))
 * return <Hydrate><RunList /></Hydrate>
 */
export async function serverTrpc(tenant: string) {
  const queryClient = makeQueryClient()
  const ctx = { headers: await headers(), requestId: randomUUID(), tenant }
  const trpc = createTRPCOptionsProxy({ ctx, router: appRouter, queryClient })
  const prefetch = (options: { queryKey: QueryKey }) =>
    queryClient.prefetchQuery({ ...(options as FetchQueryOptions), retry: false })
  /** The first page of an infinite list. */
  const prefetchInfinite = (options: { queryKey: QueryKey }) =>
    queryClient.prefetchInfiniteQuery({
      ...(options as FetchInfiniteQueryOptions),
      initialPageParam: null,
      retry: false,
    })
  /**
   * The answer of a query as the first page of an infinite list with a key of its own.
   * @param initialPageParam as in the list, which reads its first page again with this one
   */
  const prefetchFirst = (queryKey: QueryKey, page: { queryKey: QueryKey }, initialPageParam: number) => {
    const { queryFn } = page as FetchQueryOptions
    if (typeof queryFn !== 'function') throw new Error('This query cannot be prefetched.')
    // Its input is in its key.
    const read = (context: object) => queryFn({ ...context, queryKey: page.queryKey } as never)
    return queryClient.prefetchInfiniteQuery({ queryKey, queryFn: read, initialPageParam, retry: false })
  }
  /** What has been prefetched; undefined if that failed. */
  const known = <T,>(options: { queryKey: QueryKey }) => queryClient.getQueryData<T>(options.queryKey)
  function Hydrate({ children }: { children: ReactNode }) {
    return <HydrationBoundary state={settled(queryClient)}>{children}</HydrationBoundary>
  }
  return { trpc, prefetch, prefetchInfinite, prefetchFirst, known, Hydrate }
}

/**
 * Only successful queries, since the browser must not see an error's internals, and as JSON, as a call would return it.
 */
function settled(queryClient: QueryClient) {
  return dehydrate(queryClient, {
    shouldDehydrateQuery: (query) => query.state.status === 'success',
    serializeData: (data) => JSON.parse(JSON.stringify(data)),
  })
}
