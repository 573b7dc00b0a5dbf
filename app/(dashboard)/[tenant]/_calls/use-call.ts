import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import type { ReadCall } from '@/server/runs/find-call'

/** One call of an agent. A recorded call never changes. */
export function useCall(of: ReadCall) {
  const trpc = useTRPC()
  return useQuery({ ...trpc.runs.oneCall.queryOptions(of), staleTime: Number.POSITIVE_INFINITY })
}
