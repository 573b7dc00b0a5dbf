import { defaultShouldDehydrateQuery, QueryClient } from '@tanstack/react-query'

/** Codes of answers that another try would not change. */
const FINAL = [400, 401, 403, 404, 409, 413, 415]

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failures, error) => failures < 2 && !FINAL.includes(statusOf(error)),
        retryDelay: (failures) => 500 * 2 ** failures,
      },
      // Also what is still under way on the server: the page goes out at once and the data follows.
      dehydrate: {
        shouldDehydrateQuery: (query) => defaultShouldDehydrateQuery(query) || query.state.status === 'pending',
      },
    },
  })
}

function statusOf(error: unknown): number {
  return (error as { data?: { httpStatus?: number } | null } | null)?.data?.httpStatus ?? 0
}
