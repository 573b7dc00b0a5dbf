'use client'
import { QueryClientProvider } from '@tanstack/react-query'
import { createTRPCClient, httpBatchLink, httpLink, httpSubscriptionLink, splitLink } from '@trpc/client'
import { createTRPCContext } from '@trpc/tanstack-react-query'
import { type ReactNode, useState } from 'react'
import type { VisibleError } from '@/server/trpc/errors'
import type { AppRouter } from '@/server/trpc/root'
import { makeQueryClient } from './query-client'
import { UNREACHABLE, visibleError } from './visible-error'

/**
 * Calls that are never batched: a start may carry a file too large for a batch; the others may take a minute, which
 * would delay saves and lists in the same batch.
 */
const ALONE = new Set([
  'runs.start',
  'tasks.addFile',
  'tasks.first',
  'files.completeUpload',
  'files.cancelUpload',
  'reference.send',
  'tools.invoke',
  'tools.invokeDraft',
  'tools.listRemote',
  'tools.runCases',
  'agents.invoke',
  'agents.invokeDraft',
  'agents.answerOnce',
  'agents.runCases',
  'workflows.describe',
  'workflows.simulate',
  'workflows.runCases',
])

export const { TRPCProvider: Provider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>()

/**
 * Provides the dashboard's API. Calls are POST requests with JSON in batches of up to ten; long calls and event streams
 * have requests of their own.
 * @param props.tenant the workspace's slug; null outside a workspace
 */
export function TrpcClientProvider({ tenant, children }: { tenant: string | null; children: ReactNode }) {
  const [queryClient] = useState(makeQueryClient)
  const [client] = useState(() => makeClient(tenant))
  return (
    <QueryClientProvider client={queryClient}>
      <Provider trpcClient={client} queryClient={queryClient}>
        {children}
      </Provider>
    </QueryClientProvider>
  )
}

function makeClient(tenant: string | null) {
  const url = tenant === null ? '/api/trpc' : `/api/trpc?tenant=${encodeURIComponent(tenant)}`
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.type === 'subscription',
        true: httpSubscriptionLink({ url }),
        false: splitLink({
          condition: ({ path }) => ALONE.has(path),
          true: httpLink({ url, methodOverride: 'POST' }),
          false: httpBatchLink({ url, maxItems: 10, methodOverride: 'POST' }),
        }),
      }),
    ],
  })
}

/** The server's error, or our own if the server was unreachable. */
export function errorOf(error: unknown): VisibleError {
  return visibleError(error) ?? { code: 'UNREACHABLE', message: UNREACHABLE, details: [], requestId: '' }
}
