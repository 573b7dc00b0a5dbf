'use client'
import { useRef, useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import type { Judged } from '@/server/definition/verdict-groups'
import type { RefusedRun } from '@/server/runs/retry-many'

const AT_ONCE = 50

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
  const stopped = useRef(false)
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
  const attempt = (runIds: readonly string[]) =>
    during(async () => {
      setWorking({ what: 'trying', done: 0, of: runIds.length })
      const body = { version: 'latest', runs: 1, of: 'failed' } as const
      const { version } = await client.workflows.backtestSample.mutate({ id: workflowId, body })
      const judged: Judged[] = []
      for (let left = [...runIds]; left.length > 0 && !stopped.current; ) {
        const chunk = { version, runIds: left.slice(0, AT_ONCE), of: 'failed' } as const
        const answer = await client.workflows.backtestRuns.mutate({ id: workflowId, body: chunk })
        judged.push(...answer.runs)
        left = [...answer.left, ...left.slice(AT_ONCE)]
        setWorking({ what: 'trying', done: judged.length, of: runIds.length })
      }
      if (!stopped.current) setTried({ version, judged })
    })
  const retry = (runIds: readonly string[], version: number) =>
    during(async () => {
      const bulk = { verb: 'retry' as const, filter: { workflowIds: [workflowId] }, version, runIds: [...runIds] }
      const at = new Date().toISOString()
      const refused: RefusedRun[] = []
      let count = 0
      setWorking({ what: 'retrying', done: 0, of: runIds.length })
      for (let left = true; left && !stopped.current; ) {
        const answer = await client.runs.bulk.mutate({ ...bulk, at, skip: refused.map(({ runId }) => runId) })
        refused.push(...answer.refused)
        count += answer.done
        left = answer.left
        setWorking({ what: 'retrying', done: count + refused.length, of: runIds.length })
        setRetried({ count, refused: [...refused] })
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
    stop: () => {
      stopped.current = true
    },
  }
}
