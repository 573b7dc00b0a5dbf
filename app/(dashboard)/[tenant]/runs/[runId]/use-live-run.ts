'use client'
import { useDocumentVisibility } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useSubscription } from '@trpc/tanstack-react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import type { Timeline } from '@/server/views/runs/timeline'
import { mergeTimeline } from './timeline-model'

export type LiveState = 'live' | 'connecting' | 'reconnecting' | 'polling' | 'paused' | 'ended'

const POLL_MS = 2_000
/** Changes that come closer together are read together. */
const GATHER_MS = 150
const FAILURES = 2
/** What cut the stream off, such as a restart, may be over by then. */
const TRY_AGAIN_MS = 30_000

/**
 * Keeps what is shown of a run up to date: told by the run's event stream, or, after two failures of it, by asking.
 * Neither while the tab is hidden.
 * @param over whether the run was seen to have ended, as long as its timeline is not there
 */
export function useLiveRun(runId: string, timeline: Timeline | undefined, over = false): LiveState {
  const trpc = useTRPC()
  const refresh = useRefresh(runId)
  const visible = useDocumentVisibility() !== 'hidden'
  const [failures, setFailures] = useState(0)
  const [since, setSince] = useState<number | null>(null)
  const ended = timeline ? timeline.endTime !== null : over
  const polling = failures >= FAILURES
  const following = timeline !== undefined && visible && !ended && !polling

  // Where the stream begins: fixed for as long as it lasts, and anew after the tab was hidden.
  const change = timeline?.change
  useEffect(() => {
    if (!following) setSince(null)
    else setSince((now) => now ?? change ?? 0)
  }, [following, change])

  // The head of the page was read at another moment than the timeline, after which alone the stream tells; and nothing
  // was told while the tab was hidden.
  const known = timeline !== undefined
  useEffect(() => {
    if (known && visible) refresh()
  }, [known, visible, refresh])

  const stream = useSubscription(
    trpc.runs.changes.subscriptionOptions(
      { runId, lastEventId: String(since ?? 0) },
      {
        enabled: following && since !== null,
        onData: refresh,
        onConnectionStateChange: ({ state, error }) => {
          if (state === 'pending') setFailures(0)
          if (error) setFailures((count) => count + 1)
        },
        onError: () => setFailures((count) => count + 1),
      },
    ),
  )

  const asking = polling && visible && !ended && timeline !== undefined
  useEffect(() => {
    if (!asking) return
    const timer = setInterval(refresh, POLL_MS)
    const again = setTimeout(() => setFailures(0), TRY_AGAIN_MS)
    return () => {
      clearInterval(timer)
      clearTimeout(again)
    }
  }, [asking, refresh])

  if (ended) return 'ended'
  if (!visible) return 'paused'
  if (polling) return 'polling'
  if (stream.status === 'pending') return 'live'
  return failures > 0 ? 'reconnecting' : 'connecting'
}

/** Reads what changed of the run and lays it over what is known; one read at a time. */
export function useRefresh(runId: string): () => void {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const cache = useQueryClient()
  const state = useRef({ busy: false, again: false })
  return useCallback(() => {
    const held = state.current
    if (held.busy) {
      held.again = true
      return
    }
    held.busy = true
    const key = trpc.runs.timeline.queryKey({ runId })
    const read = async () => {
      await new Promise((resolve) => setTimeout(resolve, GATHER_MS))
      const known = cache.getQueryData<Timeline>(key)
      const [changed] = await Promise.all([
        known ? client.runs.timeline.query({ runId, after: known.change }) : null,
        cache.invalidateQueries({ queryKey: trpc.runs.overview.queryKey({ runId }) }),
      ])
      if (changed) cache.setQueryData<Timeline>(key, (now) => (now ? mergeTimeline(now, changed) : now))
      const open = changed?.rows.map(([seq]) => seq) ?? []
      await Promise.all(
        open.map((seq) => cache.invalidateQueries({ queryKey: trpc.runs.step.queryKey({ runId, seq }) })),
      )
    }
    const go = (): void => {
      held.again = false
      read()
        // The next event, or the next time it is asked, tries again.
        .catch(() => {})
        .finally(() => {
          if (held.again) go()
          else held.busy = false
        })
    }
    go()
  }, [runId, trpc, client, cache])
}
