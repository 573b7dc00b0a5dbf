'use client'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CirclePause, CircleX, RotateCcw } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { JsonView } from '@/app/_ui/json-view'
import { Duration, Time } from '@/app/_ui/time'
import type { RunOverview } from '@/server/views/runs/overview'
import { AnswerForm, Question } from '../../inbox/answer/answer-form'
import styles from './run.module.css'
import type { Visit } from './timeline-model'
import { sizeText } from './value-view'

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

/** What the run is waiting for, with the form to answer it. */
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
            needs {pause.signal.type === 'collect_inputs' ? 'input' : 'a decision'}, waiting for{' '}
            <Duration from={pause.createdAt} />
          </span>
        </>
      }
    >
      <Question signal={pause.signal} />
      <AnswerForm
        runId={run.runId}
        pauseId={pause.id}
        signal={pause.signal}
        onSettled={onSettled}
        keys={run.pauses.length === 1}
      />
    </Card>
  ))
}

/** A step that failed and will be retried. */
export function RetryCard({ run }: { run: RunOverview }) {
  if (!run.retrying) return null
  const { stepName, attempt, error, nextAt } = run.retrying
  return (
    <Card tone="paused" icon={<RotateCcw size={18} aria-hidden />} title={`${stepName} failed and will be retried`}>
      <p className={styles.message}>{error}</p>
      <p className={styles.cardNote}>
        Attempt {attempt} failed; the next one {Date.parse(nextAt) > Date.now() ? 'is due ' : 'was due '}
        <Time at={nextAt} absolute precise />.
      </p>
    </Card>
  )
}

/** The first card of a failed run: which step failed, its error, the number of attempts, and its input. */
export function FailureCard({
  run,
  visit,
  onOpen,
}: {
  run: RunOverview
  visit: Visit | undefined
  onOpen: (key: string) => void
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
    <Card
      tone="failed"
      icon={<CircleX size={18} aria-hidden />}
      title={visit ? `${visit.name} failed` : stepId ? `${stepId} failed` : 'The run failed'}
    >
      <p className={styles.message}>{message}</p>
      <p className={styles.cardNote}>
        <code>{code}</code>
        {visit && (visit.attempts > 1 ? ` · gave up after ${visit.attempts} attempts` : ' · not retried')}
      </p>
      {input && (
        <details className={styles.sent}>
          <summary>What the step was given ({sizeText(input.size)})</summary>
          {'value' in input ? (
            <JsonView value={input.value} label="What the step was given" openDepth={1} />
          ) : (
            <p className={styles.cardNote}>Too large to show here. Open the step to see it.</p>
          )}
        </details>
      )}
      {visit && (
        <Button variant="default" size="compact-sm" onClick={() => onOpen(visit.key)}>
          Open the step
        </Button>
      )}
    </Card>
  )
}

/** Who answered the run's earlier pauses, latest first. */
export function Answers({ run, onOpen }: { run: RunOverview; onOpen: (stepId: string) => void }) {
  if (run.answers.length === 0) return null
  return (
    <ul className={styles.answers} aria-label="Answers">
      {run.answers
        .slice(-3)
        .reverse()
        .map(({ id, stepId, stepName, title, answeredBy, answeredAt }) => (
          <li key={id}>
            <CircleCheck size={15} className={styles.done} aria-hidden />
            <button type="button" className={styles.link} onClick={() => onOpen(stepId)}>
              {title ?? stepName}
            </button>
            answered by {answeredBy?.name ?? 'somebody'} <Time at={answeredAt} />
          </li>
        ))}
    </ul>
  )
}

/** Says who cancelled the run and how far that has got. */
export function CancellationNote({ run }: { run: RunOverview }) {
  const { cancellation } = run
  if (!cancellation) return null
  const { kind, reason, requestedBy, requestedAt, cleanup } = cancellation
  const state = run.cleaningUp
    ? ' Its cleanup is running.'
    : cleanup
      ? ` Its cleanup ${cleanup === 'completed' ? 'completed' : 'failed'}.`
      : run.cancelling
        ? ' A running step may still finish.'
        : ''
  return (
    <p className={styles.note}>
      {kind === 'cancel' ? 'Cancelled' : 'Terminated'} by <strong>{requestedBy?.name}</strong>{' '}
      <Time at={requestedAt} absolute precise />
      {reason ? `: ${reason}` : '.'}
      {state}
    </p>
  )
}
