'use client'
import { Button, Group, Skeleton } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { CirclePause, CircleX, RotateCcw, StepForward } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import type { ReactNode } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { FailureCode } from '@/app/_ui/error-code'
import { JsonView } from '@/app/_ui/json-view'
import { Link } from '@/app/_ui/link'
import { notifyError } from '@/app/_ui/notify'
import { inPlace, loadPart } from '@/app/_ui/part'
import { sizeText } from '@/app/_ui/size-text'
import { Duration, Time } from '@/app/_ui/time'
import type { RunOverview } from '@/server/views/runs/overview'
import { answerHeight } from '../../inbox/answer/answer-height'
import { Question } from '../../inbox/answer/question'
import { People } from '../../inbox/answer/task-people'
import { useTenant } from '../../tenant-context'
import { HealButton } from './heal-button'
import { LogLines } from './log-lines'
import { isGone, mayRetry } from './may-retry'
import styles from './run.module.css'
import type { Visit } from './timeline-model'

/** With all kinds of fields: loaded only for runs that wait for a person. */
const AnswerForm = dynamic(
  () => loadPart(() => import('../../inbox/answer/answer-form').then((module) => module.AnswerForm)),
  {
    // It shows nothing before it can store a draft.
    ssr: false,
    loading: inPlace(<Skeleton height="100%" radius="md" />),
  },
)

function Card({
  tone,
  title,
  icon,
  children,
}: {
  tone: string
  title: ReactNode
  icon: ReactNode
  children: ReactNode
}) {
  return (
    <section className={styles.card} data-tone={tone}>
      <h2 className={styles.cardTitle}>
        {icon}
        {title}
      </h2>
      {children}
    </section>
  )
}

/** The run's open pauses, each with its form. */
export function WaitingCards({ run, onSettled }: { run: RunOverview; onSettled: () => void }) {
  return run.pauses.map((pause) => (
    <Card
      key={pause.id}
      tone="paused"
      icon={<CirclePause size={18} aria-hidden />}
      title={
        <>
          <span>{pause.signal.title ?? pause.stepName}</span>
          <span className={styles.cardMeta}>
            needs {pause.signal.type === 'collect_inputs' ? 'input' : 'a decision'}
            {/* With a single pause, the header shows this. */}
            {run.pauses.length > 1 && (
              <>
                , waiting for <Duration from={pause.createdAt} />
              </>
            )}
          </span>
        </>
      }
    >
      <Question signal={pause.signal} />
      <People people={pause.people} remarks={pause.remarks} reminders={pause.reminders} dueAt={pause.signal.dueAt} />
      <div className={styles.answer} style={{ minHeight: answerHeight(pause.signal) }}>
        <AnswerForm
          runId={run.runId}
          pauseId={pause.id}
          signal={pause.signal}
          bar={pause.people.bar}
          held={pause.held}
          onSettled={onSettled}
          keys={run.pauses.length === 1}
        />
      </div>
    </Card>
  ))
}

/** A step that failed and will be retried. */
export function RetryCard({ run }: { run: RunOverview }) {
  if (!run.retrying) return null
  const { stepName, attempt, error, nextAt, log } = run.retrying
  return (
    <Card tone="paused" icon={<RotateCcw size={18} aria-hidden />} title={`${stepName} failed and will be retried`}>
      <p className={styles.message}>{error}</p>
      <Logged log={log} />
      <p className={styles.cardNote}>
        Attempt {attempt} failed; the next one {Date.parse(nextAt) > Date.now() ? 'is due ' : 'was due '}
        <Time at={nextAt} absolute precise />.
      </p>
    </Card>
  )
}

/** The last lines logged by the failed attempt's scripts. */
function Logged({ log, onAll }: { log: RunOverview['failureLog']; onAll?: () => void }) {
  if (!log) return null
  const { lines, count } = log
  return (
    <div className={styles.logged}>
      <p className={styles.cardNote}>
        {lines.length === count ? 'Logged before it failed' : `The last ${lines.length} of ${count} lines logged`}
        {onAll && lines.length < count && (
          <Button variant="subtle" size="compact-xs" onClick={onAll}>
            Show all
          </Button>
        )}
      </p>
      <LogLines lines={lines} label="Log of the failed attempt" />
    </div>
  )
}

/** The first card of a failed run: which step failed, its error and log, the number of attempts, and its input. */
export function FailureCard({
  run,
  visit,
  onOpen,
}: {
  run: RunOverview
  visit: Visit | undefined
  onOpen: (key: string, tab?: string) => void
}) {
  const trpc = useTRPC()
  const step = useQuery({
    ...trpc.runs.step.queryOptions({ runId: run.runId, seq: visit?.seq ?? 0 }),
    enabled: visit !== undefined,
  })
  if (!run.error || (run.state !== 'failed' && run.state !== 'timed_out')) return null
  const { code, message, stepId } = run.error
  const input = step.data?.input
  return (
    <Card tone="failed" icon={<CircleX size={18} aria-hidden />} title={titleOf(visit, stepId)}>
      <p className={styles.message}>{message}</p>
      <p className={styles.cardNote}>
        <FailureCode code={code} />
        {visit && triesOf(visit)}
        {run.retry?.same && ' · a retry would end in the same way'}
      </p>
      <Logged log={run.failureLog} {...(visit ? { onAll: () => onOpen(visit.key, 'log') } : {})} />
      {/* Reserves its line while loading, so that nothing below moves. */}
      {(input || step.isLoading) && (
        <details className={styles.sent}>
          <summary>Input of the step{input && ` (${sizeText(input.size)})`}</summary>
          {!input ? null : 'value' in input ? (
            <JsonView value={input.value} label="Input of the step" openDepth={1} />
          ) : (
            <p className={styles.cardNote}>Too large to show here. Open the step to see it.</p>
          )}
        </details>
      )}
      <Group gap="sm">
        <RetryFromHere run={run} />
        {visit && (
          <Button variant="default" size="compact-sm" onClick={() => onOpen(visit.key)}>
            Open the step
          </Button>
        )}
        <HealButton run={run} />
        <Alike run={run} />
      </Group>
    </Card>
  )
}

function titleOf(visit: Visit | undefined, stepId: string | null): string {
  if (!visit) return stepId ? `${stepId} failed` : 'The run failed'
  if (visit.status === 'timed_out') return `${visit.name} expired`
  return visit.type === 'fail-flow' ? `${visit.name} ended the run as failed` : `${visit.name} failed`
}

/** Only for a step that could have been tried again. */
function triesOf({ attempts, status, type }: Visit): string {
  if (attempts > 1) return ` · gave up after ${attempts} attempts`
  return status === 'timed_out' || type === 'fail-flow' ? '' : ' · not retried'
}

/** Starts a run that continues at the failed step, or at the one that led to it, and opens it. */
function RetryFromHere({ run }: { run: RunOverview }) {
  const trpc = useTRPC()
  const router = useRouter()
  const { may, path } = useTenant()
  const retry = useMutation(
    trpc.runs.retry.mutationOptions({
      onSuccess: ({ runId }) => router.push(path(`/runs/${runId}`)),
      onError: (error) => notifyError(error, 'The run was not retried'),
    }),
  )
  // If the run was already retried, the menu has further retries.
  if (!may('run:retry') || !run.retry || !mayRetry(run)) return null
  const gone = isGone(run)
  return (
    <Button
      leftSection={<StepForward size={16} aria-hidden />}
      loading={retry.isPending}
      disabled={gone}
      title={gone ? 'The workflow is archived or deleted.' : 'A new run that keeps the completed steps.'}
      onClick={() => retry.mutate({ runId: run.runId })}
    >
      {run.retry.stepId === run.error?.stepId ? 'Retry from here' : `Retry from “${run.retry.stepName}”`}
    </Button>
  )
}

/** The number of other runs that failed for the same reason, with a link to them. */
function Alike({ run }: { run: RunOverview }) {
  const { path } = useTenant()
  if (!run.alike || !run.error) return null
  const { count, more } = run.alike
  if (count === 0) return <span className={styles.cardNote}>No other run failed in the same way.</span>
  const query = new URLSearchParams({
    status: 'failed',
    workflow: run.workflowId,
    code: run.error.code,
    ...(run.error.stepId ? { step: run.error.stepId } : {}),
  })
  return (
    <Link className={styles.cardNote} href={path(`/runs?${query}`)}>
      {count}
      {more ? '+' : ''} other {count === 1 && !more ? 'run' : 'runs'} failed in the same way
    </Link>
  )
}
