import type { QueryClient, QueryKey } from '@tanstack/react-query'

/**
 * Reads queries again because their data has changed. A first read that is under way is not begun anew by an
 * invalidation, and may have missed the change, so another one follows it.
 */
export async function readAgain(cache: QueryClient, queryKey: QueryKey): Promise<void> {
  const first = new Set(
    cache
      .getQueryCache()
      .findAll({ queryKey, fetchStatus: 'fetching' })
      .filter(({ state }) => state.data === undefined),
  )
  await cache.invalidateQueries({ queryKey })
  if (first.size > 0) await cache.invalidateQueries({ queryKey, predicate: (query) => first.has(query) })
}
