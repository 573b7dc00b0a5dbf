'use client'
import { Alert, Button, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert, ExternalLink } from 'lucide-react'
import Link from 'next/link'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { StatusPill } from '@/app/_ui/status-pill'
import { Duration } from '@/app/_ui/time'
import { durationText } from '@/app/_ui/time-text'
import { AnswerForm } from '../../../inbox/answer/answer-form'
import { type Visit, visitsOf } from '../../../runs/[runId]/timeline-model'
import { useLiveRun, useRefresh } from '../../../runs/[runId]/use-live-run'
import { ValueView } from '../../../runs/[runId]/value-view'
import { useTenant } from '../../../tenant-context'
import type { GoTo } from '../actions/screen'
import styles from './test-panel.module.css'

/** A run of the draft, updated as it happens: its steps, its pauses and its result. */
export function TestRun({ runId, version, onGoTo }: { runId: string; version: number; onGoTo: GoTo }) {
  const trpc = useTRPC()
  const { path } = useTenant()
  const overview = useQuery(trpc.runs.overview.queryOptions({ runId }))
  const timeline = useQuery(trpc.runs.timeline.queryOptions({ runId }))
  useLiveRun(runId, timeline.data)
  const refresh = useRefresh(runId)
  if (overview.error && !overview.data) {
    const again = () => void overview.refetch()
    return <ErrorState error={overview.error} title="The run could not be loaded" onRetry={again} />
  }
  if (!overview.data) return <Skeleton height={120} radius="md" />
  const { state, cancelling, startTime, endTime, error, pauses, result } = overview.data
  return (
    <Stack gap="md" component="section" aria-label="This test run">
      <div className={styles.state} role="status">
        <StatusPill status={cancelling ? 'cancelling' : state} />
        <span className={styles.time}>
          <Duration from={startTime} to={endTime} />
        </span>
        <span>version {version}</span>
        <Button
          component={Link}
          href={path(`/runs/${runId}`)}
          variant="subtle"
          size="compact-sm"
          rightSection={<ExternalLink size={14} aria-hidden />}
        >
          Open run
        </Button>
      </div>
      {pauses.map((pause) => (
        <div key={pause.id} className={styles.asked}>
          <Text size="sm" fw={500} mb="xs">
            {pause.signal.title ?? pause.stepName}
          </Text>
          {pause.signal.message !== undefined && (
            <Text size="sm" mb="sm" style={{ whiteSpace: 'pre-wrap' }}>
              {pause.signal.message}
            </Text>
          )}
          <AnswerForm runId={runId} pauseId={pause.id} signal={pause.signal} onSettled={refresh} />
        </div>
      ))}
      {error && (
        <Alert color="red" variant="light" icon={<CircleAlert size={18} aria-hidden />} title={error.code}>
          <Text size="sm">{error.message}</Text>
          {error.stepId !== null && (
            <Button
              mt="xs"
              size="compact-sm"
              variant="default"
              onClick={() => onGoTo({ stepId: error.stepId ?? undefined })}
            >
              Show {error.stepId}
            </Button>
          )}
        </Alert>
      )}
      <ol className={styles.visits} aria-label="Steps so far">
        {(timeline.data ? visitsOf(timeline.data) : []).map((visit) => (
          <li key={visit.seq}>
            <UnstyledButton className={styles.visit} onClick={() => onGoTo({ stepId: visit.stepId })}>
              <span>{visit.name}</span>
              <StatusPill status={pillOf(visit)} />
              <span className={styles.time}>{visit.end === null ? '' : durationText(visit.end - visit.start)}</span>
            </UnstyledButton>
          </li>
        ))}
      </ol>
      {result !== null && <ValueView value={result} whole={{ of: 'run', runId, field: 'result' }} label="Result" />}
    </Stack>
  )
}

function pillOf({ status, segments }: Visit): 'running' | 'paused' | 'completed' | 'failed' {
  return status === 'running' && segments.at(-1)?.kind === 'waiting' ? 'paused' : status
}
