'use client'
import { useDocumentVisibility } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useSubscription } from '@trpc/tanstack-react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import type { Timeline } from '@/server/views/runs/timeline'
import { mergeTimeline, ofBranch, pruned } from './timeline-model'

export type LiveState = 'live' | 'connecting' | 'reconnecting' | 'polling' | 'paused' | 'ended'

const POLL_MS = 2_000
/** Changes that arrive within this time are fetched together. */
const GATHER_MS = 150
const FAILURES = 2
/** By then the cause of a lost stream, such as a restart, may have passed. */
const TRY_AGAIN_MS = 30_000

/**
 * Updates a run's page through its event stream or, after two failures, by polling. Stops while the tab is hidden.
 * @param over true if the run is known to have ended, for use until its timeline is loaded
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

  // The stream's starting point: fixed while the stream lasts, and set again after the tab was hidden.
  const change = timeline?.change
  useEffect(() => {
    if (!following) setSince(null)
    else setSince((now) => now ?? change ?? 0)
  }, [following, change])

  // Refresh once: the page header was fetched at another time than the timeline, where the stream starts, and nothing
  // arrived while the tab was hidden.
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

/** Fetches the changes and merges them into the known state. One request at a time. */
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
      const changed = known ? await client.runs.timeline.query({ runId, after: known.change }) : null
      if (changed) {
        cache.setQueryData<Timeline>(key, (now) => (now ? pruned(mergeTimeline(now, changed)) : now))
        // The branches fetched separately.
        for (const [of, now] of cache.getQueriesData<Timeline>({ queryKey: key })) {
          const branch = (of[1] as { input?: { branch?: string } } | undefined)?.input?.branch
          if (now && branch !== undefined)
            cache.setQueryData<Timeline>(of, mergeTimeline(now, ofBranch(changed, branch)))
        }
        // With very many changes, a response has only some of them; and when a run ends, all its open visits end too.
        const ends = known?.endTime === null && changed.endTime !== null
        const missed = changed.cut || (known?.cut === true && ends)
        await Promise.all([
          missed && cache.invalidateQueries({ queryKey: key }),
          cache.invalidateQueries({ queryKey: trpc.runs.branches.queryKey({ runId }) }),
        ])
      }
      const open = changed?.rows.map(([seq]) => seq) ?? []
      await Promise.all([
        // Not concurrently with the timeline: once that shows the run's end, no older overview may be fetched again.
        cache.invalidateQueries({ queryKey: trpc.runs.overview.queryKey({ runId }) }),
        ...open.flatMap((seq) => [
          cache.invalidateQueries({ queryKey: trpc.runs.step.queryKey({ runId, seq }) }),
          cache.invalidateQueries({ queryKey: trpc.runs.calls.queryKey({ runId, seq }) }),
        ]),
      ])
    }
    const go = (): void => {
      held.again = false
      read()
        // The next event or poll retries.
        .catch(() => {})
        .finally(() => {
          if (held.again) go()
          else held.busy = false
        })
    }
    go()
  }, [runId, trpc, client, cache])
}
