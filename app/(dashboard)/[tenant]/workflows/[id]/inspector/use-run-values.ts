'use client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { ScopeEntry as CheckedEntry } from '@/server/workflows/check/scope'
import { lastOf, rootsOfEntries, type ShownValues, sampleValues, type ValuesSource } from '../model/shown-values'
import type { ScopeEntry } from '../widgets/scope-context'

/** As many names as the server reads at once. */
const MAX_NAMES = 200

/** A step's entries with the values of the chosen source. */
export function useRunValues(options: {
  workflowId: string
  stepId: string
  entries: readonly CheckedEntry[]
  source: ValuesSource
}): { entries: ScopeEntry[]; values: ShownValues | null; run: { id: string; startTime: string } | null } {
  const { workflowId, stepId, entries, source } = options
  const trpc = useTRPC()
  const names = useMemo(() => rootsOfEntries(entries).slice(0, MAX_NAMES), [entries])
  const sample = source === 'sample'
  const query = useQuery({
    ...trpc.runs.stepValues.queryOptions({
      workflowId,
      stepId,
      names,
      anyRun: true,
      ...(source === 'newest' || sample ? {} : { runId: source }),
    }),
    enabled: !sample && names.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    gcTime: 10_000,
  })
  const data = sample ? undefined : query.data
  const values = useMemo<ShownValues | null>(() => {
    if (sample) return { values: sampleValues(entries), leftOut: [] }
    return data?.run ? data : null
  }, [sample, entries, data])
  const shown = useMemo(
    () => entries.map((entry) => ({ ...entry, last: values && lastOf(entry.name, values.values) })),
    [entries, values],
  )
  return { entries: shown, values, run: data?.run ?? null }
}
