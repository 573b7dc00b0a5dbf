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
 * Prefetches the page's first queries on the server, so that client components render with data. If one fails here, the
 * client repeats it and shows the error.
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
   * Stores a query's result as the first page of an infinite list with its own key.
   * @param initialPageParam as in the list, which refetches its first page with it
   */
  const prefetchFirst = (queryKey: QueryKey, page: { queryKey: QueryKey }, initialPageParam: number) => {
    const { queryFn } = page as FetchQueryOptions
    if (typeof queryFn !== 'function') throw new Error('This query cannot be prefetched.')
    // The query's input is in its key.
    const read = (context: object) => queryFn({ ...context, queryKey: page.queryKey } as never)
    return queryClient.prefetchInfiniteQuery({ queryKey, queryFn: read, initialPageParam, retry: false })
  }
  /** Prefetched data; undefined if the prefetch failed. */
  const known = <T,>(options: { queryKey: QueryKey }) => queryClient.getQueryData<T>(options.queryKey)
  function Hydrate({ children }: { children: ReactNode }) {
    return <HydrationBoundary state={settled(queryClient)}>{children}</HydrationBoundary>
  }
  return { trpc, prefetch, prefetchInfinite, prefetchFirst, known, Hydrate }
}

/**
 * Only successful queries, because the browser must not see an error's internals. Serialised as JSON, like a call's
 * result.
 */
function settled(queryClient: QueryClient) {
  return dehydrate(queryClient, {
    shouldDehydrateQuery: (query) => query.state.status === 'success',
    serializeData: (data) => JSON.parse(JSON.stringify(data)),
  })
}
