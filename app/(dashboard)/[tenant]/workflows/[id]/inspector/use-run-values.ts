'use client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { ScopeEntry as CheckedEntry } from '@/server/workflows/check/scope'
import {
  lastOf,
  repeated,
  rootsOfEntries,
  type ShownRun,
  type ShownValues,
  sampleValues,
  type ValuesSource,
} from '../model/shown-values'
import type { ScopeEntry } from '../widgets/scope-context'

/** As many names as the server reads at once. */
const MAX_NAMES = 200

/** A step's entries with the values of the chosen source. */
export function useRunValues(options: {
  workflowId: string
  stepId: string
  entries: readonly CheckedEntry[]
  /** The names that the step refers to: an earlier step may add fields of any name. */
  refersTo: readonly string[]
  source: ValuesSource
}): { entries: ScopeEntry[]; values: ShownValues | null; run: ShownRun | null; pending: boolean } {
  const { workflowId, stepId, entries, refersTo, source } = options
  const trpc = useTRPC()
  const names = useMemo(
    () => [...new Set([...refersTo, ...rootsOfEntries(entries)])].filter((name) => name !== '_').slice(0, MAX_NAMES),
    [entries, refersTo],
  )
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
    if (sample) return { values: sampleValues(entries), names: new Set(rootsOfEntries(entries)), leftOut: [] }
    return data?.run ? { ...data, names: new Set(names) } : null
  }, [sample, entries, data, names])
  const shown = useMemo(() => {
    const repeats = repeated(entries)
    return entries.map((entry) => ({
      ...entry,
      last: values && lastOf(entry.name, values.values),
      repeats: repeats.has(entry),
    }))
  }, [entries, values])
  return { entries: shown, values, run: data?.run ?? null, pending: !sample && names.length > 0 && query.isPending }
}
