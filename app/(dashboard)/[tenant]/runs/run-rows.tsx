'use client'
import { useEffect, useRef } from 'react'
import { IdText } from '@/app/_ui/id-text'
import { Link } from '@/app/_ui/link'
import { StatusPill } from '@/app/_ui/status-pill'
import { TestMark } from '@/app/_ui/test-mark'
import { Duration, Time } from '@/app/_ui/time'
import type { RunItem } from '@/server/views/runs/items'
import { useTenant } from '../tenant-context'
import { viaLabel } from './run-filter'

import styles from './runs.module.css'

/**
 * The rows of the list; cards on a phone.
 * @param oneWorkflow all runs belong to the workflow in the page's heading
 */
export function RunRows(props: { rows: RunItem[]; marked: number; busy: boolean; oneWorkflow: boolean }) {
  const { rows, marked, busy, oneWorkflow } = props
  return (
    <table className={styles.table} data-one={oneWorkflow || undefined} aria-busy={busy}>
      <caption className="visually-hidden">Runs, newest first</caption>
      <thead>
        <tr>
          <th scope="col" className={styles.colStatus}>
            Status
          </th>
          <th scope="col" className={styles.colWorkflow}>
            {oneWorkflow ? 'Version' : 'Workflow'}
          </th>
          <th scope="col" className={styles.colKey}>
            Key or id
          </th>
          <th scope="col" className={styles.colStarted}>
            Started
          </th>
          <th scope="col" className={styles.colDuration}>
            Duration
          </th>
          <th scope="col" className={styles.colBy}>
            Started by
          </th>
          <th scope="col" className={styles.colReason}>
            Waiting for, or failed at
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((run, index) => (
          <RunRow key={run.runId} run={run} marked={index === marked} oneWorkflow={oneWorkflow} />
        ))}
      </tbody>
    </table>
  )
}

function RunRow({ run, marked, oneWorkflow }: { run: RunItem; marked: boolean; oneWorkflow: boolean }) {
  const { path } = useTenant()
  const row = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (marked) row.current?.scrollIntoView({ block: 'nearest' })
  }, [marked])
  return (
    <tr ref={row} data-marked={marked || undefined} className={styles.row}>
      <td>
        <StatusPill status={run.cancelling ? 'cancelling' : run.state} />
      </td>
      <td>
        <Link href={path(`/runs/${run.runId}`)} className={styles.open} title={run.workflowName}>
          <span className={oneWorkflow ? 'visually-hidden' : undefined}>{run.workflowName}</span>
          {oneWorkflow && (run.versionNumber === null ? 'Draft' : `v${run.versionNumber}`)}
        </Link>
        {!oneWorkflow && run.versionNumber !== null && <span className={styles.version}>v{run.versionNumber}</span>}
        {run.startedVia === 'test' && <TestMark />}
      </td>
      <td className={styles.above}>
        {run.businessKey === null ? (
          <IdText id={run.runId} />
        ) : (
          <span className={styles.key} title={`${run.businessKey} (${run.runId})`}>
            {run.businessKey}
          </span>
        )}
      </td>
      <td className={styles.above}>
        <Time at={run.startTime} />
      </td>
      <td className={styles.number}>
        <Duration from={run.startTime} to={run.endTime} />
      </td>
      <td title={run.startedBy?.name}>{run.startedBy?.name ?? viaLabel(run.startedVia)}</td>
      <td className={styles.reason}>
        <Reason run={run} />
      </td>
    </tr>
  )
}

/** Why the run waits or failed. */
function Reason({ run: { waiting, awaits, failure } }: { run: RunItem }) {
  if (waiting) {
    return (
      <>
        {waiting.title ?? waiting.stepName ?? waiting.stepId}{' '}
        <span className={styles.quiet}>({waiting.kind === 'collect_inputs' ? 'form' : 'decision'})</span>
      </>
    )
  }
  if (failure) {
    return (
      <>
        {failure.stepName && <strong>{failure.stepName}: </strong>}
        {failure.message}
        {failure.attempts > 1 && <span className={styles.quiet}> after {failure.attempts} attempts</span>}
      </>
    )
  }
  return awaits
}
