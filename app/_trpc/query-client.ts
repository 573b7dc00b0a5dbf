import { defaultShouldDehydrateQuery, QueryClient } from '@tanstack/react-query'

/** Status codes for which a retry does not help. */
const FINAL = [400, 401, 403, 404, 409, 413, 415]

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failures, error) => failures < 2 && !FINAL.includes(statusOf(error)),
        retryDelay: (failures) => 500 * 2 ** failures,
      },
      // Includes queries still pending on the server: the page is sent immediately and their data follows.
      dehydrate: {
        shouldDehydrateQuery: (query) => defaultShouldDehydrateQuery(query) || query.state.status === 'pending',
      },
    },
  })
}

function statusOf(error: unknown): number {
  return (error as { data?: { httpStatus?: number } | null } | null)?.data?.httpStatus ?? 0
}
