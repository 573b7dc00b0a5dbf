'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useTRPC } from '@/app/_trpc/client'

/**
 * A run's next task opens a moment after the answer, once the steps in between are done. Where pages have an event
 * stream, it announces the task too.
 */
const AGAIN_MS = [400, 1_200, 3_000]

/** Refetches task lists and counts after an answer: now, and until the run's next task should exist. */
export function useTasksChanged(): () => void {
  const trpc = useTRPC()
  const cache = useQueryClient()
  return useCallback(() => {
    const again = () => {
      const { list, count, countViews } = trpc.tasks
      for (const queryKey of [list.pathKey(), count.pathKey(), countViews.pathKey()])
        cache.invalidateQueries({ queryKey }).catch(() => {})
    }
    again()
    for (const ms of AGAIN_MS) setTimeout(again, ms)
  }, [trpc, cache])
}
