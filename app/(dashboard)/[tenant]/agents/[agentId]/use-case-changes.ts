'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'

/** Awaits a change to an agent's test cases, then refetches them. */
export function useCaseChanges(id: string) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  return async <T>(change: Promise<T>): Promise<T> => {
    const done = await change
    await queries.invalidateQueries({ queryKey: trpc.agents.cases.queryKey({ id }) })
    // The agent includes their number.
    await queries.invalidateQueries({ queryKey: trpc.agents.open.queryKey({ id }) })
    return done
  }
}
