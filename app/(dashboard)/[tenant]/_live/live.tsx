'use client'
import { useDocumentVisibility } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { useTenant } from '../tenant-context'
import { readAgain } from './read-again'
import { TAB } from './tab'

/** After this many consecutive failures, the page polls. */
const FAILURES = 2
/** By then the cause of a lost stream, such as a restart, may have passed. */
const TRY_AGAIN_MS = 30_000
const POLL_MS = 10_000
/** Polls even with a stream, whose notifications may get lost. */
const SAFE_MS = 60_000

/**
 * Refetches task lists, task counts and presence when they change. One event stream serves the whole tab while it is
 * visible; without a stream it polls. So no query of tasks has an interval of its own.
 */
export function Live() {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const cache = useQueryClient()
  const { streams } = useTenant()
  const visible = useDocumentVisibility() !== 'hidden'
  const [failures, setFailures] = useState(0)
  const away = !streams || failures >= FAILURES

  const readTasks = useCallback(() => {
    readAgain(cache, trpc.tasks.pathKey()).catch(() => {})
  }, [cache, trpc])
  const readPeople = useCallback(() => {
    readAgain(cache, trpc.live.here.pathKey()).catch(() => {})
  }, [cache, trpc])
  useEffect(() => {
    if (!visible || away) return
    const failed = () => setFailures((count) => count + 1)
    // Not `useSubscription`: few pages need it and all would load it.
    const stream = client.live.changes.subscribe(
      { tab: TAB },
      {
        onData({ tasks, people }) {
          setFailures(0)
          if (tasks) readTasks()
          if (people) readPeople()
        },
        onConnectionStateChange({ error }) {
          if (error) failed()
        },
        onError: failed,
      },
    )
    return () => stream.unsubscribe()
  }, [visible, away, client, readTasks, readPeople])

  useEffect(() => {
    if (!visible) return
    const timer = setInterval(readTasks, away ? POLL_MS : SAFE_MS)
    return () => clearInterval(timer)
  }, [visible, away, readTasks])

  useEffect(() => {
    if (!visible || !away) return
    // Nothing was fetched while the tab was hidden.
    readTasks()
    const again = setTimeout(() => setFailures(0), TRY_AGAIN_MS)
    return () => clearTimeout(again)
  }, [visible, away, readTasks])
  return null
}
