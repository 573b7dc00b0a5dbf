'use client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'

/** An agent's threads, newest first, including those of API callers. */
export function useThreads(agentId: string, { enabled = true } = {}) {
  const trpc = useTRPC()
  return useInfiniteQuery({
    ...trpc.agents.threads.infiniteQueryOptions(
      { agentId },
      { initialCursor: null, getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined },
    ),
    enabled,
  })
}
