'use client'
import { useEffect, useRef, useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import type { CheckedRun } from './move-plan'

type State = 'idle' | 'checking' | 'done' | 'stopped' | 'failed'

/** Judges all open runs on other versions than the given one, some at a time. Changes nothing. */
export function useCheck(workflowId: string, to: number | null) {
  const client = useTRPCClient()
  const stopping = useRef(new AbortController())
  const [runs, setRuns] = useState<CheckedRun[]>([])
  const [state, setState] = useState<State>('idle')
  const [error, setError] = useState<unknown>(null)
  useEffect(() => () => stopping.current.abort(), [])

  const check = async () => {
    if (to === null) return
    stopping.current.abort()
    stopping.current = new AbortController()
    const { signal } = stopping.current
    setState('checking')
    setError(null)
    setRuns([])
    const found: CheckedRun[] = []
    try {
      for (let after: string | null = ''; after !== null && !signal.aborted; ) {
        const of = { workflowId, to, ...(after === '' ? {} : { after }) }
        const page = await client.runs.movable.query(of, { signal })
        found.push(...page.runs)
        after = page.next
        if (!signal.aborted) setRuns([...found])
      }
      if (!signal.aborted) setState('done')
    } catch (failure) {
      if (signal.aborted) return
      setError(failure)
      setState('failed')
    }
  }
  return {
    runs,
    state,
    error,
    check,
    stop: () => {
      stopping.current.abort()
      setState('stopped')
    },
    /** After a move. */
    forget: () => {
      stopping.current.abort()
      setRuns([])
      setState('idle')
    },
  }
}
