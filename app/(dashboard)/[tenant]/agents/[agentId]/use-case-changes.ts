'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'

/** Waits for a change of an agent's test cases, and then shows them as they are now. */
export function useCaseChanges(id: string) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  return async <T>(change: Promise<T>): Promise<T> => {
    const done = await change
    await queries.invalidateQueries({ queryKey: trpc.agents.cases.queryKey({ id }) })
    // It says how many there are.
    await queries.invalidateQueries({ queryKey: trpc.agents.open.queryKey({ id }) })
    return done
  }
}
