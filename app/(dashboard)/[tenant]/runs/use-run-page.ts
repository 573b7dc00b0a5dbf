'use client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { BrowseRuns } from '@/server/views/runs/browse'
import type { RunItem } from '@/server/views/runs/items'
import { filterOf } from './run-filter'

const ROWS_MS = 3_000
const NEW_MS = 6_000

/**
 * A page of the list. Its rows stay in place and refresh while the tab is visible. Runs that start meanwhile are only
 * counted until the user asks to see them.
 * @returns as `ended`, the number of rows that have ended since the page was fetched
 */
export function useRunPage(input: BrowseRuns) {
  const trpc = useTRPC()
  const page = useQuery({
    ...trpc.runs.list.queryOptions(input),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    // Opening the list again refetches; switching windows must not move its rows.
    refetchOnMount: 'always',
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const open = useMemo(() => page.data?.runs.filter(({ endTime }) => endTime === null) ?? [], [page.data])
  const fresh = useQuery({
    ...trpc.runs.refresh.queryOptions({ runIds: open.map(({ runId }) => runId) }),
    enabled: open.length > 0 && !page.isPlaceholderData,
    placeholderData: keepPreviousData,
    refetchInterval: ROWS_MS,
    initialDataUpdatedAt: Date.now(),
  })
  const atTop = input.after === undefined && input.before === undefined
  const news = useQuery({
    ...trpc.runs.countNew.queryOptions({ ...filterOf(input), since: page.data?.top ?? null }),
    enabled: atTop && page.data !== undefined && !page.isPlaceholderData,
    refetchInterval: NEW_MS,
  })
  // An empty list has no rows that could move: new runs appear automatically.
  const arrived = atTop && page.data?.runs.length === 0 && (news.data?.count ?? 0) > 0
  useEffect(() => {
    if (arrived) page.refetch().catch(() => {})
  }, [arrived, page.refetch])
  const rows = useMemo(() => merge(page.data?.runs ?? [], fresh.data ?? []), [page.data, fresh.data])
  const ended = open.length - rows.filter(({ endTime }) => endTime === null).length
  return { page, rows, ended, newRuns: atTop ? (news.data?.count ?? 0) : 0, stale: fresh.error ?? news.error }
}

/** The rows in their order, each in its latest state. */
export function merge(rows: RunItem[], fresh: RunItem[]): RunItem[] {
  const byId = new Map(fresh.map((run) => [run.runId, run]))
  return rows.map((run) => (run.endTime === null ? (byId.get(run.runId) ?? run) : run))
}
