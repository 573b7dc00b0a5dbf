'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { durationText } from '@/app/_ui/time-text'
import type { ReadCall, ReadCalls } from '@/server/runs/find-call'
import type { CallRow } from '@/server/views/runs/calls'
import { CallDetails } from './call-details'
import { CALL_ICONS, callFigures } from './call-text'
import styles from './calls.module.css'
import { useCall } from './use-call'

const LIVE_MS = 3_000

/** The calls of a turn, each opening to what went in and came out. */
export function CallList({ of, live }: { of: ReadCalls; live: boolean }) {
  const trpc = useTRPC()
  const query = useQuery({
    ...trpc.runs.calls.queryOptions(of),
    refetchInterval: live ? LIVE_MS : false,
  })
  if (query.error && !query.data) return <ErrorState error={query.error} onRetry={() => query.refetch()} />
  if (!query.data) return <Skeleton height={80} radius="md" />
  const { calls, waiting } = query.data
  return (
    <>
      <ol className={styles.list}>
        {calls.map((call) => (
          <Call key={call.id} of={of} call={call} />
        ))}
      </ol>
      {live && waiting.length > 0 && <p className={styles.note}>Under way: {waiting.join(', ')}</p>}
    </>
  )
}

function Call({ of, call }: { of: ReadCalls; call: CallRow }) {
  const [open, setOpen] = useState(false)
  const Icon = CALL_ICONS[call.kind]
  const figures = callFigures(call)
  return (
    <li style={{ ['--depth' as string]: call.depth }}>
      <button type="button" className={styles.row} aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={15} className={styles.chevron} data-open={open || undefined} aria-hidden />
        <Icon size={15} className={call.failed ? styles.failed : styles.quiet} aria-hidden />
        <span className={styles.title}>{call.title}</span>
        {call.failed && <b className={styles.failed}>failed</b>}
        <span className={styles.figures}>{figures}</span>
        <span className={styles.took}>{durationText(call.end - call.start)}</span>
      </button>
      {open && <Details of={of} call={call.id} />}
    </li>
  )
}

function Details(at: ReadCall) {
  const query = useCall(at)
  if (query.data) return <CallDetails call={query.data} at={at} />
  if (query.error) return <ErrorState error={query.error} onRetry={() => query.refetch()} />
  return <Skeleton height={120} radius="md" />
}
