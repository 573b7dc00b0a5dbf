import { useQueries } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { branchesAround, originOf, scopeIdOf } from '@/server/definition/branches'
import type { BranchItem } from '@/server/views/runs/branches'
import type { Timeline } from '@/server/views/runs/timeline'
import { branchOfKey, type Visit, visitsOf } from './timeline-model'
import { failedFirst, failedKey, isOpen } from './timeline-tree'

/** A run's open forks and branches, with the data fetched for them. */
export function useBranches(runId: string, timeline: Timeline, visits: readonly Visit[], selected: string | null) {
  const trpc = useTRPC()
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map())
  /** The number of pages of failed items shown, by fork. */
  const [pages, setPages] = useState<ReadonlyMap<string, number>>(new Map())

  const wanted = useMemo(() => {
    if (!timeline.cut) return []
    const open = [...opened].flatMap(([key, is]) => (is ? [key.replace(failedKey(''), '')] : []))
    const at = selected === null ? [] : [branchOfKey(selected)]
    return [...new Set([...open, ...at])].filter((key) => originOf(key) !== null)
  }, [timeline.cut, opened, selected])
  const inside = useQueries({
    queries: wanted.map((branch) => ({
      ...trpc.runs.timeline.queryOptions({ runId, branch }),
      // After the first load, only changes are fetched.
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: together,
  })
  const insideVisits = useMemo(
    () =>
      new Map(wanted.flatMap((branch, at) => (inside.data[at] ? [[branch, visitsOf(inside.data[at])] as const] : []))),
    [wanted, inside],
  )

  // Forks inside branches may be missing in the timeline.
  const names = useMemo(
    () => Object.assign({}, timeline.names, ...inside.data.map((one) => one?.names)) as Timeline['names'],
    [timeline.names, inside],
  )
  const forks = useMemo(() => {
    const known = new Map(
      [...visits, ...[...insideVisits.values()].flat()].flatMap((visit) =>
        visit.fork && !names[visit.stepId] ? [[visit.fork.id, visit.fork] as const] : [],
      ),
    )
    return [...known.values()].filter((fork) => failedFirst(fork) && isOpen(fork, opened))
  }, [visits, insideVisits, names, opened])
  const asked = useMemo(
    () => forks.flatMap(({ id }) => Array.from({ length: pages.get(id) ?? 1 }, (_, page) => ({ fork: id, page }))),
    [forks, pages],
  )
  const failedPages = useQueries({
    queries: asked.map((page) => trpc.runs.branches.queryOptions({ runId, ...page, failed: true })),
    combine: together,
  })
  const failed = useMemo(() => {
    const lists = new Map<string, BranchItem[]>()
    for (const [at, { fork }] of asked.entries()) {
      const page = failedPages.data[at]
      if (page) lists.set(fork, [...(lists.get(fork) ?? []), ...page])
    }
    return lists
  }, [asked, failedPages])

  const open = useCallback((key: string, is: boolean) => setOpened((now) => new Map(now).set(key, is)), [])
  const more = useCallback(
    (forkId: string) => setPages((now) => new Map(now).set(forkId, (now.get(forkId) ?? 1) + 1)),
    [],
  )
  const ensureOpen = useCallback((branch: string) => {
    const around = branchesAround(branch).flatMap((name) => {
      const origin = originOf(name)
      return origin ? [scopeIdOf(origin.parent, origin), name] : []
    })
    setOpened((now) =>
      around.every((key) => now.get(key)) ? now : new Map([...now, ...around.map((key) => [key, true] as const)]),
    )
  }, [])
  const reading = inside.reading || failedPages.reading
  return { opened, inside: insideVisits, names, failed, reading, open, more, ensureOpen }
}

/** What `useQueries` has read so far. */
export function together<T>(results: { data: T | undefined; isLoading: boolean }[]) {
  return { data: results.map(({ data }) => data), reading: results.some(({ isLoading }) => isLoading) }
}
