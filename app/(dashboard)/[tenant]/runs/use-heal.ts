'use client'
import { useRef, useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import type { Judged } from '@/server/definition/verdict-groups'
import type { RefusedRun } from '@/server/runs/retry-many'
import { tryPastRuns } from '../try-past-runs'

/** The runs of a cause, tried on the draft. */
export interface Tried {
  version: number
  judged: Judged[]
}

interface Working {
  what: 'trying' | 'retrying'
  done: number
  of: number
}

/** Tries failed runs on the draft, and retries them, in many calls. Closing the dialog stops both. */
export function useHeal(workflowId: string) {
  const client = useTRPCClient()
  const stopping = useRef(new AbortController())
  const [working, setWorking] = useState<Working | null>(null)
  const [tried, setTried] = useState<Tried | null>(null)
  const [retried, setRetried] = useState<{ count: number; refused: RefusedRun[] } | null>(null)
  const [error, setError] = useState<unknown>(null)

  const during = async (work: () => Promise<void>) => {
    setError(null)
    try {
      await work()
    } catch (failure) {
      setError(failure)
    }
    setWorking(null)
    // Neither is final: after the try comes the retry, and what failed may be pressed again.
    return false
  }
  const attempt = (runIds: readonly string[], version: number) =>
    during(async () => {
      const show = (done: number) => setWorking({ what: 'trying', done, of: runIds.length })
      show(0)
      const { signal } = stopping.current
      const judged = await tryPastRuns(client, { workflowId, version, runIds, of: 'failed' }, signal, (all) =>
        show(all.length),
      )
      if (!signal.aborted) setTried({ version, judged })
    })
  const retry = (runIds: readonly string[], version: number, { repeatCalls = false } = {}) =>
    during(async () => {
      const of = { verb: 'retry' as const, filter: { workflowIds: [workflowId] }, runIds: [...runIds] }
      const bulk = { ...of, version, repeatCalls }
      const at = new Date().toISOString()
      const earlier = retried ?? { count: 0, refused: [] }
      const untouched = earlier.refused.filter(({ runId }) => !runIds.includes(runId))
      const refused: RefusedRun[] = []
      let count = 0
      setWorking({ what: 'retrying', done: 0, of: runIds.length })
      for (let left = true; left && !stopping.current.signal.aborted; ) {
        const answer = await client.runs.bulk.mutate({ ...bulk, at, skip: refused.map(({ runId }) => runId) })
        refused.push(...answer.refused)
        count += answer.done
        left = answer.left
        setWorking({ what: 'retrying', done: count + refused.length, of: runIds.length })
        setRetried({ count: earlier.count + count, refused: [...untouched, ...refused] })
      }
    })
  return {
    working,
    tried,
    retried,
    error,
    attempt,
    retry,
    /** Of another cause. */
    forget: () => setTried(null),
    stop: () => stopping.current.abort(),
  }
}
