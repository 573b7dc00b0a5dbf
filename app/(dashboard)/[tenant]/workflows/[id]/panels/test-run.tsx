'use client'
import { Alert, Button, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert, ExternalLink, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { FailureCode } from '@/app/_ui/error-code'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { StatusPill } from '@/app/_ui/status-pill'
import { Duration } from '@/app/_ui/time'
import type { Definition } from '@/server/definition/schema'
import { visitsOf } from '../../../runs/[runId]/timeline-model'
import { useRefresh } from '../../../runs/[runId]/use-live-run'
import { ValueView } from '../../../runs/[runId]/value-view'
import { useTenant } from '../../../tenant-context'
import type { GoTo } from '../actions/screen'
import { findStep, stepLabel } from '../model/definition'
import type { StartedTest } from '../parts/test-state'
import { StepData } from './step-data'
import styles from './test-panel.module.css'
import { TestTask } from './test-task'
import { VisitList } from './visit-list'

/** A run of the draft, updated as it happens: its steps, its pauses and its result, and the data of the selected step. */
export function TestRun(props: {
  run: StartedTest
  definition: Definition
  selected: string | null
  onSelect: (stepId: string) => void
  onGoTo: GoTo
  onClear: () => void
}) {
  const { run, definition, selected, onSelect, onGoTo, onClear } = props
  const { runId, part } = run
  const trpc = useTRPC()
  const { path } = useTenant()
  const overview = useQuery(trpc.runs.overview.queryOptions({ runId }))
  const timeline = useQuery(trpc.runs.timeline.queryOptions({ runId }))
  const refresh = useRefresh(runId)
  const visits = useMemo(() => (timeline.data ? visitsOf(timeline.data) : []), [timeline.data])
  // The latest visit of the selected step, unless the user chose another one in the list.
  const [seq, setSeq] = useState<number | null>(null)
  const ofStep = visits.filter(({ stepId }) => stepId === selected)
  const shown = ofStep.find((visit) => visit.seq === seq) ?? ofStep.at(-1) ?? null
  if (overview.error && !overview.data) {
    const again = () => void overview.refetch()
    return <ErrorState error={overview.error} title="The run could not be loaded" onRetry={again} />
  }
  if (!overview.data) return <Skeleton height={120} radius="md" />
  const { state, cancelling, startTime, endTime, error, pauses, result, versionNumber } = overview.data
  const missed = part && 'to' in part && endTime !== null && !error && !visits.some(({ stepId }) => stepId === part.to)
  return (
    <div className={styles.run}>
      <Stack gap="md" component="section" aria-label="This test run">
        <div className={styles.state} role="status">
          <StatusPill status={cancelling ? 'cancelling' : state} />
          <span className={styles.time}>
            <Duration from={startTime} to={endTime} />
          </span>
          <span>
            {versionNumber === null ? 'draft' : `version ${versionNumber}`}
            {part &&
              ('to' in part ? `, to ${stepLabel(definition, part.to)}` : `, only ${stepLabel(definition, part.only)}`)}
          </span>
          <Button
            component={Link}
            href={path(`/runs/${runId}`)}
            variant="subtle"
            size="compact-sm"
            rightSection={<ExternalLink size={14} aria-hidden />}
          >
            Open run
          </Button>
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            leftSection={<X size={14} aria-hidden />}
            onClick={onClear}
          >
            Clear
          </Button>
        </div>
        {missed && (
          <Text size="sm">The run ended before it came to {stepLabel(definition, part.to)}: its path turned off.</Text>
        )}
        {pauses.map((pause) => (
          <TestTask key={pause.id} runId={runId} pause={pause} onSettled={refresh} />
        ))}
        {error && (
          <Alert
            color="red"
            variant="light"
            icon={<CircleAlert size={18} aria-hidden />}
            title={<FailureCode code={error.code} />}
          >
            <Text size="sm">{error.message}</Text>
            {error.stepId !== null && (
              <Button
                mt="xs"
                size="compact-sm"
                variant="default"
                onClick={() => onGoTo({ stepId: error.stepId ?? undefined })}
              >
                Show {stepLabel(definition, error.stepId)}
              </Button>
            )}
          </Alert>
        )}
        <VisitList
          visits={visits}
          shown={shown}
          onShow={({ seq, stepId }) => {
            setSeq(seq)
            onSelect(stepId)
          }}
        />
        {result !== null && <ValueView value={result} whole={{ of: 'run', runId, field: 'result' }} label="Result" />}
      </Stack>
      {visits.length > 0 && (
        <StepData
          run={overview.data}
          visit={shown}
          selected={selected !== null && findStep(definition, selected) ? stepLabel(definition, selected) : null}
          onClose={() => onSelect('')}
        />
      )}
    </div>
  )
}
