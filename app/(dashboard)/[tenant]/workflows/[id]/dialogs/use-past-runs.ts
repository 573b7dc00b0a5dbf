'use client'
import { useEffect, useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import type { RouterOutput } from '@/app/_trpc/types'
import type { Judged } from '@/server/definition/verdict-groups'
import { tryPastRuns } from '../../../try-past-runs'

export const FEW = 200
export const MANY = 1_000

type Sample = RouterOutput['workflows']['backtestSample']

export interface PastRuns {
  /** How many runs are asked for. */
  size: number
  sample: Sample | null
  /** The verdicts so far. */
  judged: readonly Judged[]
  state: 'waiting' | 'trying' | 'stopped' | 'done' | 'failed'
  error: unknown
}

const NOTHING: Omit<PastRuns, 'size'> = { sample: null, judged: [], state: 'waiting', error: null }

/**
 * Tries the saved draft on past runs, some at a time, as soon as it can be published; that executes nothing. It stops
 * when the dialog closes.
 * @param version of the draft; null until it is saved and known to have no errors
 */
export function usePastRuns(workflowId: string, version: number | null) {
  const client = useTRPCClient()
  const [round, setRound] = useState({ size: FEW, nth: 0 })
  const [stop, setStop] = useState<AbortController | null>(null)
  const [now, setNow] = useState(NOTHING)
  useEffect(() => {
    setNow(NOTHING)
    if (version === null) return
    const stopping = new AbortController()
    const { signal } = stopping
    const show = (change: Partial<PastRuns>) => !signal.aborted && setNow((before) => ({ ...before, ...change }))
    setStop(stopping)
    show({ state: 'trying' })
    const sampled = { id: workflowId, body: { version, runs: round.size } }
    const tryAll = async () => {
      const sample = await client.workflows.backtestSample.mutate(sampled, { signal })
      show({ sample })
      const runIds = sample.runs.map(({ id }) => id)
      await tryPastRuns(client, { workflowId, version, runIds, of: 'ended' }, signal, (judged) => show({ judged }))
      show({ state: 'done' })
    }
    tryAll().catch((error: unknown) => show({ state: 'failed', error }))
    return () => stopping.abort()
  }, [client, workflowId, version, round])
  const again = (size: number) => setRound(({ nth }) => ({ size, nth: nth + 1 }))
  return {
    ...now,
    size: round.size,
    onStop() {
      stop?.abort()
      setNow((before) => ({ ...before, state: 'stopped' }))
    },
    onMore: () => again(MANY),
    onAgain: () => again(round.size),
    /** Nothing that the runs tried so far say speaks against publishing. */
    isFine: now.state === 'done' && now.judged.every(({ verdict: { is } }) => is !== 'fails' && is !== 'untold'),
  }
}
