'use client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { StatusPill } from '@/app/_ui/status-pill'
import { TestMark } from '@/app/_ui/test-mark'
import { Time } from '@/app/_ui/time'
import type { RunItem } from '@/server/views/runs/items'
import { useTenant } from '../tenant-context'
import { Card } from './card'
import styles from './home.module.css'

const DAY_MS = 24 * 60 * 60_000
const SHOWN = 6
const FAILED = ['failed', 'timed_out'] as const

/** Runs that failed in the last 24 hours. */
export function FailedCard() {
  const trpc = useTRPC()
  const { path } = useTenant()
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString())
  const runs = useQuery({
    ...trpc.runs.list.queryOptions({ states: [...FAILED], from, limit: SHOWN }),
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  })
  const more = `/runs?status=failed&status=timed_out&from=${encodeURIComponent(from)}`
  return (
    <Card title="Failed in the last 24 hours" more={{ href: path(more), label: 'See all' }} query={runs}>
      {({ runs }) => <Rows runs={runs} none="No runs failed." allFailed />}
    </Card>
  )
}

export function RecentCard() {
  const trpc = useTRPC()
  const { path } = useTenant()
  const runs = useQuery({ ...trpc.runs.list.queryOptions({ limit: SHOWN }), refetchInterval: 5_000 })
  return (
    <Card title="Recent runs" more={{ href: path('/runs'), label: 'All runs' }} query={runs}>
      {({ runs }) => <Rows runs={runs} none="No runs yet." />}
    </Card>
  )
}

/** @param props.allFailed the card's title says so: rows have only an icon, which leaves more room for the reason */
function Rows({ runs, none, allFailed = false }: { runs: RunItem[]; none: string; allFailed?: boolean }) {
  const { path } = useTenant()
  if (runs.length === 0) return <p className={styles.note}>{none}</p>
  return (
    <ul className={styles.rows}>
      {runs.map((run) => (
        <li key={run.runId}>
          <Link className={styles.row} href={path(`/runs/${run.runId}`)}>
            <span className={styles.state} data-icon={allFailed || undefined}>
              <StatusPill
                status={run.cancelling ? 'cancelling' : run.state}
                brief={allFailed ? 'always' : 'on phones'}
              />
            </span>
            <span className={styles.what}>
              <span className={styles.title}>
                {run.businessKey === null ? '' : `${run.businessKey} · `}
                {run.workflowName}
                {run.startedVia === 'test' && <TestMark />}
              </span>
              {explain(run) && <span className={styles.quiet}>{explain(run)}</span>}
            </span>
            <span className={styles.when}>
              <Time at={run.startTime} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function explain({ failure, waiting }: RunItem): string | null {
  if (failure) return failure.stepName ? `${failure.stepName}: ${failure.message}` : failure.message
  return waiting ? (waiting.title ?? waiting.stepName) : null
}
