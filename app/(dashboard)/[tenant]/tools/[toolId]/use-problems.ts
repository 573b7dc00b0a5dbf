'use client'
import { useCallback, useState } from 'react'

/** The problems that prevent saving, by source. */
export function useProblems() {
  const [problems, setProblems] = useState<Record<string, string | null>>({})
  const report = useCallback(
    (of: string, problem: string | null) =>
      setProblems((now) => ((now[of] ?? null) === problem ? now : { ...now, [of]: problem })),
    [],
  )
  const clear = useCallback(() => setProblems({}), [])
  const first = Object.values(problems).find((problem) => problem !== null) ?? null
  return { first, report, clear }
}

export type Report = (of: string, problem: string | null) => void
