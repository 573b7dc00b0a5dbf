'use client'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { definitionOf } from '../model/definition'
import { loadedNames, loadFixes } from './load-fixes'

/** The number of errors and warnings of each step. */
export type StepProblems = ReadonlyMap<string, { errors: number; warnings: number }>

const CHECK_AFTER_MS = 400
const NONE: Problem[] = []

/** Warnings that a path has until its end is drawn. */
const UNFINISHED: readonly string[] = ['W_NO_END', 'W_EMPTY_BRANCH']

/**
 * The server's check of the draft, saved or not. The last result stays until the next one arrives.
 * @param finished whether to report unfinished paths: not before the first attempt to publish
 */
export function useProblems(
  definition: Definition,
  catalog: Catalog,
  finished: boolean,
): {
  problems: Problem[]
  byStep: StepProblems
  /** Whether any check has arrived yet. */
  known: boolean
  /** Whether the problems are those of the current draft. */
  checked: boolean
  error: unknown
} {
  const trpc = useTRPC()
  const [draft] = useDebouncedValue(definition, CHECK_AFTER_MS)
  const body = useMemo(() => definitionOf(draft), [draft])
  const {
    data: found,
    error,
    isPlaceholderData,
  } = useQuery({
    ...trpc.workflows.check.queryOptions({ definition: body }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    gcTime: 10_000,
  })
  // Problems show their fixes and the names of steps from the start.
  const all = useFixes() ? found : undefined
  const data = useMemo(() => {
    const reported = finished ? all : all?.filter(({ code }) => !UNFINISHED.includes(code))
    return reported && loadedNames(reported, draft, catalog)
  }, [all, finished, draft, catalog])
  // A failed check, such as offline, leaves the known problems valid.
  const last = useRef(data)
  if (data !== undefined) last.current = data
  const known = last.current !== undefined
  const problems = last.current ?? NONE
  const byStep = useMemo(() => {
    const counts = new Map<string, { errors: number; warnings: number }>()
    for (const { stepId, severity } of problems) {
      if (stepId === undefined) continue
      const { errors, warnings } = counts.get(stepId) ?? { errors: 0, warnings: 0 }
      counts.set(stepId, severity === 'error' ? { errors: errors + 1, warnings } : { errors, warnings: warnings + 1 })
    }
    return counts
  }, [problems])
  return { problems, byStep, known, checked: data !== undefined && !isPlaceholderData && draft === definition, error }
}

/** Whether the fixes are loaded, or failed to load. */
function useFixes(): boolean {
  const [settled, setSettled] = useState(false)
  useEffect(() => {
    void loadFixes().then(() => setSettled(true))
  }, [])
  return settled
}
