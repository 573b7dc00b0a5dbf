import { useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'

/**
 * Fetches workflows again after a change, and their names for the filters and pickers of other screens.
 * @param what `lists` leaves out single workflows, because the editor holds the draft of one
 */
export function useWorkflowsChanged(what: 'all' | 'lists' = 'all'): () => Promise<unknown> {
  const { workflows, runs } = useTRPC()
  const queries = useQueryClient()
  const own = what === 'all' ? workflows.pathFilter() : workflows.list.pathFilter()
  return () => Promise.all([own, runs.workflows.pathFilter()].map((filter) => queries.invalidateQueries(filter)))
}
