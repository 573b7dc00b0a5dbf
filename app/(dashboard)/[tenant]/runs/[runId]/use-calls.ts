import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { CallList } from '@/server/views/runs/calls'
import { together } from './use-branches'

/** The calls of these visits, by the numbers of their records; those that are still loading are absent. */
export function useCalls(runId: string, seqs: readonly number[]): ReadonlyMap<number, CallList> {
  const trpc = useTRPC()
  const read = useQueries({
    queries: seqs.map((seq) => trpc.runs.calls.queryOptions({ runId, seq })),
    combine: together,
  })
  return useMemo(
    () => new Map(seqs.flatMap((seq, at) => (read.data[at] ? [[seq, read.data[at]] as const] : []))),
    [seqs, read],
  )
}
