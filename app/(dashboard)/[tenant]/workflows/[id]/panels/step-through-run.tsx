'use client'
import { Button, Group, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { History, Play } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { StatusPill } from '@/app/_ui/status-pill'
import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import { HIDDEN } from '@/server/definition/sensitive'
import type { Next } from '@/server/runs/step-through/next'
import { visitsOf } from '../../../runs/[runId]/timeline-model'
import { useLiveRun, useRefresh } from '../../../runs/[runId]/use-live-run'
import { useTenant } from '../../../tenant-context'
import { findStep } from '../model/definition'
import type { OutcomeProps } from './step-through-props'
import type { Came, Session } from './step-through-store'
import { TestTask } from './test-task'

/** Gets what a call or a child run gives: from a test run of this step alone, or from the last run that came to it. */
export function RunOrReuse(props: OutcomeProps) {
  const { workflowId, definition, session, next, busy, save, onSay } = props
  const { may } = useTenant()
  const trpc = useTRPC()
  const resultOf = useResultOf(next.step)
  const [runId, setRunId] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const start = useMutation(trpc.runs.start.mutationOptions())
  const last = useMutation({
    mutationFn: async () => {
      const found = await resultOf.last(workflowId)
      if (found) onSay(found, 'last')
      else setProblem('No run has completed this step yet.')
    },
  })
  // A step of its own in the draft, and not the body that a for-each with a workflow has in its place.
  const mayRun = may('run:start') && findStep(definition, next.at.stepId) !== undefined
  const { data, hides } = dataOf(session, next)
  async function run() {
    setProblem(null)
    const version = await save()
    if (version === null) return setProblem('The draft could not be saved, so the step was not run.')
    const part = { only: next.step }
    const started = await start.mutateAsync({ workflowId, data, version: String(version), part }).catch(() => null)
    if (started) setRunId(started.runId)
  }
  const waits = busy || start.isPending || last.isPending || runId !== null
  return (
    <div>
      <Group gap="xs">
        {mayRun && (
          <Button size="xs" leftSection={<Play size={16} aria-hidden />} disabled={waits} onClick={() => void run()}>
            Run it
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          leftSection={<History size={16} aria-hidden />}
          disabled={waits}
          onClick={() => last.mutate()}
        >
          Use the last result
        </Button>
      </Group>
      {mayRun && runId === null && (
        <Text size="sm" c="dimmed" mt={4}>
          <em>Run it</em> is a real test run of this step alone, with the values from here.
          {hides && ' A hidden value is sent as ***: change it first if the step needs it.'}
        </Text>
      )}
      {problem !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      )}
      {start.error && <ErrorState error={start.error} title="The step was not run" />}
      {last.error && <ErrorState error={last.error} title="The last result could not be read" />}
      {runId !== null && (
        <Running
          key={runId}
          runId={runId}
          resultOf={resultOf.run}
          onEnded={(came) => {
            setRunId(null)
            if (came) onSay(came, 'ran')
            else setProblem('The test run ended without a result of this step.')
          }}
        />
      )}
    </div>
  )
}

/** Follows the test run, and asks its questions, until it has ended. */
function Running(props: {
  runId: string
  resultOf: (runId: string) => Promise<Came | null>
  onEnded: (came: Came | null) => void
}) {
  const { runId, resultOf, onEnded } = props
  const trpc = useTRPC()
  const { path } = useTenant()
  const { data: timeline } = useQuery(trpc.runs.timeline.queryOptions({ runId }))
  const { data: overview } = useQuery(trpc.runs.overview.queryOptions({ runId }))
  const refresh = useRefresh(runId)
  useLiveRun(runId, timeline)
  const ended = timeline !== undefined && timeline.endTime !== null
  const latest = useRef({ resultOf, onEnded })
  latest.current = { resultOf, onEnded }
  useEffect(() => {
    if (!ended) return
    let gone = false
    void latest.current
      .resultOf(runId)
      .catch(() => null)
      .then((came) => gone || latest.current.onEnded(came))
    return () => {
      gone = true
    }
  }, [ended, runId])
  return (
    <div role="status">
      <Group gap="xs" mt="xs">
        <StatusPill status={overview?.state ?? 'running'} />
        <Text size="sm">The test run is under way.</Text>
        <Link href={path(`/runs/${runId}`)}>Open run</Link>
      </Group>
      {overview?.pauses.map((pause) => (
        <TestTask key={pause.id} runId={runId} pause={pause} onSettled={refresh} />
      ))}
    </div>
  )
}

/** The values that a step refers to, with those of START as they were typed. */
function dataOf({ input }: Session, { reads, config, data }: Next): { data: JsonObject; hides: boolean } {
  const isWhole = JSON.stringify(config).includes('${_')
  const values = Object.fromEntries(
    reads.flatMap(({ name, value, missing, from }) =>
      missing ? [] : [[name, from === 'start' && Object.hasOwn(input, name) ? (input[name] ?? null) : value]],
    ),
  )
  const all: JsonObject = { ...(isWhole ? data : {}), ...values }
  return { data: all, hides: JSON.stringify(all).includes(HIDDEN) }
}

/** What came of a step's last visit in a run. */
function useResultOf(stepId: string) {
  const { runs } = useTRPCClient()
  const ofRun = async (runId: string): Promise<Came | null> => {
    const timeline = await runs.timeline.query({ runId })
    const visit = visitsOf(timeline).findLast((one) => one.stepId === stepId && one.end !== null)
    if (!visit) return null
    const { seq, error, output, savedAs } = await runs.step.query({ runId, seq: visit.seq })
    if (error) return { failed: { code: error.code ?? 'FAILED', message: error.message } }
    if (!output) return null
    const whole =
      'preview' in output
        ? (await runs.wholeValue.query({ of: 'step', runId, seq, field: 'output' })).value
        : output.value
    return { output: bare(whole, savedAs) }
  }
  return {
    run: ofRun,
    last: async (workflowId: string) => {
      const { run } = await runs.stepValues.query({ workflowId, stepId, names: [] })
      return run && ofRun(run.id)
    },
  }
}

/** History shows a value that is no object under the name it was saved as. */
function bare(output: JsonValue, savedAs: string | null): JsonValue {
  if (savedAs === null || !isJsonObject(output)) return output
  return output[savedAs] ?? null
}
