'use client'
import { Button, Skeleton } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ChevronRight, MessagesSquare } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { RouterOutput } from '@/app/_trpc/types'
import { EmptyState } from '@/app/_ui/empty-state'
import { FailureCode } from '@/app/_ui/error-code'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { StatusPill } from '@/app/_ui/status-pill'
import { Duration, Time } from '@/app/_ui/time'
import { CallList } from '../../_calls/call-list'
import { callFigures } from '../../_calls/call-text'
import { useTenant } from '../../tenant-context'
import styles from './turns-tab.module.css'

type Turn = RouterOutput['agents']['turns']['items'][number]

const PILLS = { working: 'running', waiting: 'paused', done: 'completed', failed: 'failed' } as const
const PLACES = { run: 'Run', invoke: 'Invoked', chat: 'Chat', handoff: 'Handed over by another agent' }
const LIVE_MS = 5_000

/** The turns of an agent, newest first, each with its calls. */
export function TurnsTab({ agentId }: { agentId: string }) {
  const trpc = useTRPC()
  const list = useInfiniteQuery({
    ...trpc.agents.turns.infiniteQueryOptions(
      { agentId },
      { initialCursor: null, getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined },
    ),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ items }) => items.some((turn) => turn.state === 'working')) ? LIVE_MS : false,
  })
  if (list.error && !list.data) return <ErrorState error={list.error} onRetry={() => list.refetch()} />
  if (!list.data) return <Skeleton height={240} radius="md" />
  const items = list.data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <NoTurns />
  return (
    <>
      <p className={styles.note}>All that this agent was asked, by runs, by API and in the playground.</p>
      <ol className={styles.list} aria-label="Turns, newest first">
        {items.map((turn) => (
          <TurnItem key={turn.id} turn={turn} />
        ))}
      </ol>
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
          Earlier turns
        </Button>
      )}
    </>
  )
}

function NoTurns() {
  return (
    <EmptyState icon={MessagesSquare} title="No turns yet">
      Each time a run or a caller asks this agent, its turn appears here.
    </EmptyState>
  )
}

function TurnItem({ turn }: { turn: Turn }) {
  const [open, setOpen] = useState(false)
  const figures = callFigures({
    tokens: { input: turn.usage.inputTokens, output: turn.usage.outputTokens },
    cost: turn.cost,
  })
  const live = turn.state === 'working'
  return (
    <li>
      <div className={styles.head}>
        <button type="button" className={styles.toggle} aria-expanded={open} onClick={() => setOpen(!open)}>
          <ChevronRight size={15} className={styles.chevron} data-open={open || undefined} aria-hidden />
          <When turn={turn} />
        </button>
        <Place turn={turn} />
        {turn.errorCode && <FailureCode code={turn.errorCode} />}
        <span className={styles.figures}>{figures}</span>
        <span className={styles.took}>
          <Duration from={turn.startedAt} to={turn.endedAt} />
        </span>
      </div>
      {open && (
        <div className={styles.calls}>
          <CallList of={{ agentId: turn.agentId, turnId: turn.id }} live={live} />
        </div>
      )}
    </li>
  )
}

function When({ turn }: { turn: Turn }) {
  return (
    <>
      <StatusPill status={PILLS[turn.state]} />
      <span className={styles.when}>
        <Time at={turn.startedAt} />
      </span>
    </>
  )
}

/** Where the turn took place: a step of a run, or a thread. */
function Place({ turn }: { turn: Turn }) {
  const { path } = useTenant()
  const { runId, stepKey, threadId, agentId, via } = turn
  const [href, text] =
    runId !== null
      ? [`/runs/${runId}?step=${encodeURIComponent(stepKey ?? '')}`, `${turn.workflowName}: ${turn.stepName}`]
      : [`/agents/${agentId}?tab=playground&thread=${threadId}`, PLACES[via]]
  if (runId === null && threadId === null) return <span className={styles.step}>{text}</span>
  return (
    <Link className={styles.step} href={path(href)}>
      {text}
    </Link>
  )
}
