import { defaultShouldDehydrateQuery, QueryClient } from '@tanstack/react-query'

/** Status codes for which a retry does not help. */
const FINAL = [400, 401, 403, 404, 409, 413, 415]

export function makeQueryClient(): QueryClient {
  const client = new QueryClient({
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
  const withDefaults = client.defaultQueryOptions.bind(client) as unknown as (options: Options) => Options
  const own = (options: Options) => untilRefused(withDefaults(options))
  client.defaultQueryOptions = own as unknown as QueryClient['defaultQueryOptions']
  return client
}

interface Options {
  enabled?: boolean | ((query: Asked) => boolean) | undefined
  endsWhenRefused?: true
}
interface Asked {
  state: { error: unknown }
}

/**
 * Does not repeat by itself a query that the role may not make, even if its screen sets an interval: a role may change
 * while its page is open.
 */
function untilRefused(options: Options): Options {
  if (options.endsWhenRefused) return options
  const { enabled } = options
  const wanted = (query: Asked) => (typeof enabled === 'function' ? enabled(query) : enabled !== false)
  return { ...options, enabled: (query) => statusOf(query.state.error) !== 403 && wanted(query), endsWhenRefused: true }
}

function statusOf(error: unknown): number {
  return (error as { data?: { httpStatus?: number } | null } | null)?.data?.httpStatus ?? 0
}
