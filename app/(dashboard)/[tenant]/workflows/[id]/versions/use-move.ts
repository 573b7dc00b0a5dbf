'use client'
import { useEffect, useRef, useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import type { Refused } from '@/server/runs/moves/move'
import { type How, isBusy, moveAll, moveAllBack, type Progress } from './move-all'

export interface Moved {
  batch: string
  to: number
  /** All that can be moved back. */
  runIds: string[]
  /** Those of the last time. */
  count: number
  askedAgain: number
  refused: Refused[]
  /** Those that were not tried: someone stopped, or a call failed. */
  untried: number
}

interface Working {
  what: 'moving' | 'back'
  done: number
  of: number
  waiting: Progress['waiting']
}

/** Moves open runs in many calls, and back. Stopping leaves the rest as it is. */
export function useMove(workflowId: string, onChanged: () => void) {
  const client = useTRPCClient()
  const stopping = useRef(new AbortController())
  const [working, setWorking] = useState<Working | null>(null)
  const [moved, setMoved] = useState<Moved | null>(null)
  const [back, setBack] = useState<{ count: number; refused: Refused[] } | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => () => stopping.current.abort(), [])

  const during = async (working: Working, work: (signal: AbortSignal) => Promise<void>) => {
    stopping.current = new AbortController()
    setError(null)
    setWorking(working)
    try {
      await work(stopping.current.signal)
    } catch (failure) {
      setError(failure)
    }
    setWorking(null)
    onChanged()
    return false
  }
  const move = (runIds: readonly string[], how: How) => {
    const of = runIds.length
    const to = how.toVersion
    // Later moves to the same version can be moved back with the earlier ones.
    const before = moved && back === null && moved.to === to ? moved : null
    setBack(null)
    setMoved(before && { ...before, count: 0, askedAgain: 0, refused: [], untried: of })
    return during({ what: 'moving', done: 0, of, waiting: null }, (signal) =>
      moveAll(client, { workflowId, runIds, batch: before?.batch ?? '', ...how }, signal, (now) => {
        const { batch, askedAgain, refused, waiting } = now
        const count = now.moved.length
        const known = { batch, to, runIds: [...new Set([...(before?.runIds ?? []), ...now.moved])] }
        setMoved({ ...known, count, askedAgain, refused, untried: of - count - refused.length })
        setWorking({ what: 'moving', done: count + refused.length - (waiting?.count ?? 0), of, waiting })
      }),
    )
  }
  const moveBack = async () => {
    if (!moved) return false
    const of = moved.runIds.length
    const earlier = back?.count ?? 0
    return during({ what: 'back', done: 0, of, waiting: null }, (signal) =>
      moveAllBack(client, { workflowId, batch: moved.batch }, signal, (now) => {
        const count = earlier + now.count
        setBack({ ...now, count })
        setWorking({ what: 'back', done: count + now.refused.length, of, waiting: null })
      }),
    )
  }
  /** Whether some may still move back: nobody has tried, a call failed, or they were busy. */
  const mayMoveBack =
    moved !== null && moved.runIds.length > 0 && (!back || error !== null || back.refused.some(isBusy))
  return { working, moved, back, error, mayMoveBack, move, moveBack, stop: () => stopping.current.abort() }
}
