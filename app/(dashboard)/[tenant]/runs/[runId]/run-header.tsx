'use client'
import { Button } from '@mantine/core'
import { IdText } from '@/app/_ui/id-text'
import { Link } from '@/app/_ui/link'
import { PageHeader } from '@/app/_ui/page-header'
import { StatusPill } from '@/app/_ui/status-pill'
import { TestMark } from '@/app/_ui/test-mark'
import { Duration, Time } from '@/app/_ui/time'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../tenant-context'
import { AgainMenu } from './again-menu'
import { CopyMenu } from './copy-menu'
import { LiveIndicator } from './live-indicator'
import { answersMessage } from './may-retry'
import styles from './run.module.css'
import { StopActions } from './stop-actions'
import type { LiveState } from './use-live-run'

/** The run's name, its state, and the available actions. */
export function RunHeader({ run, onSettled }: { run: RunOverview; onSettled: () => void }) {
  const { path } = useTenant()
  return (
    <PageHeader
      back={{ href: path('/runs'), label: 'Runs' }}
      title={run.workflowName}
      meta={
        <>
          {run.businessKey !== null && <BusinessKey run={run} businessKey={run.businessKey} />}
          {run.startedVia === 'test' && <TestMark />}
          <StatusPill status={run.cancelling ? 'cancelling' : run.state} />
          <span className={styles.sentence}>{sentence(run)}</span>
        </>
      }
      actions={
        <div className={styles.actions}>
          <CopyMenu run={run} />
          <WhatIfLink run={run} />
          <AgainMenu run={run} />
          <StopActions run={run} onSettled={onSettled} />
        </div>
      }
    />
  )
}

/** To try changes on the run, for those who may edit its workflow. */
function WhatIfLink({ run }: { run: RunOverview }) {
  const { may, path } = useTenant()
  if (!may('workflow:simulate') || !run.workflow || run.part) return null
  return (
    <Button component={Link} href={path(`/runs/${run.runId}/what-if`)} variant="default">
      What if…
    </Button>
  )
}

/** Links to all runs with the same key. */
function BusinessKey({ run, businessKey }: { run: RunOverview; businessKey: string }) {
  const { path } = useTenant()
  const query = new URLSearchParams({ workflow: run.workflowId, key: businessKey })
  return (
    <Link className={styles.key} href={path(`/runs?${query}`)} title="All runs with this key">
      {businessKey}
    </Link>
  )
}

/** How to unblock the run, or its duration. */
function sentence(run: RunOverview) {
  if (run.endTime) {
    return (
      <>
        after <Duration from={run.startTime} to={run.endTime} />
      </>
    )
  }
  const pause = run.pauses[0]
  if (!pause) {
    return (
      <>
        for <Duration from={run.startTime} />
      </>
    )
  }
  return (
    <>
      for {pause.signal.title ?? pause.stepName}, <Duration from={pause.createdAt} />
    </>
  )
}

const BY = { apiKey: 'API key ', token: 'a token of ', user: '', system: '' } as const

/** Before the name of the workflow, or of the agent that was sent a message. */
function whatOf(run: RunOverview): string {
  const { versionNumber } = run
  if (answersMessage(run)) return 'A message to'
  return `${versionNumber === null ? 'A draft' : `Version ${versionNumber}`} of`
}

/** Version, starter, times, related runs, the id and the live state, in one line. */
export function RunFacts({ run, live }: { run: RunOverview; live: LiveState }) {
  const { path } = useTenant()
  const workflow = path(`/workflows/${run.workflowId}`)
  return (
    <p className={styles.line}>
      <span>
        {whatOf(run)} {run.workflow ? <Link href={workflow}>{run.workflowName}</Link> : run.workflowName}
      </span>
      <span>
        {run.startedVia === 'test' ? 'a test by ' : 'started by '}
        {run.startedBy && BY[run.startedBy.kind]}
        {run.startedBy?.name}
      </span>
      <Time at={run.startTime} absolute />
      {run.part && <span>{'to' in run.part ? `ends after ${run.part.stepName}` : `only ${run.part.stepName}`}</span>}
      {run.parent && (
        <span>
          part of a run of <Link href={path(`/runs/${run.parent.runId}`)}>{run.parent.workflowName}</Link>
        </span>
      )}
      {run.retryOf && (
        <span>
          a repeat of <Link href={path(`/runs/${run.retryOf}`)}>an earlier run</Link>
          {run.edited.length > 0 && ` with ${run.edited.join(', ')} changed`}
        </span>
      )}
      {run.again[0] && (
        <span>
          <Link href={path(`/runs/${run.again[0].runId}`)}>
            {run.again.length === 1 ? 'repeated by a later run' : `the latest of ${run.again.length} repeats`}
          </Link>
        </span>
      )}
      <IdText id={run.runId} />
      {/* Last, because its width changes while the page loads. */}
      <LiveIndicator state={live} />
    </p>
  )
}
