import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'

/** One call of an agent in a visit. A recorded call never changes. */
export function useCall(of: { runId: string; seq: number; call: number }) {
  const trpc = useTRPC()
  return useQuery({ ...trpc.runs.oneCall.queryOptions(of), staleTime: Number.POSITIVE_INFINITY })
}
