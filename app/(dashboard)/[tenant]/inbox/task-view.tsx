'use client'
import { Alert, Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CalendarX2, CircleCheck, CircleSlash, RefreshCw, SearchX } from 'lucide-react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { FieldsView } from '@/app/_ui/fields-view'
import { IdText } from '@/app/_ui/id-text'
import { Link } from '@/app/_ui/link'
import { TestMark } from '@/app/_ui/test-mark'
import { Time } from '@/app/_ui/time'
import type { Task } from '@/server/views/tasks/get'
import { Comments } from '../_comments/comments'
import { TaskLinkButton } from '../_task-links/link-button'
import { partsText } from '../question-parts'
import { useTenant } from '../tenant-context'
import { AnswerForm } from './answer/answer-form'
import { KeptText } from './answer/kept-text'
import { Question } from './answer/question'
import { Refused } from './answer/refused'
import remarkStyles from './answer/remark.module.css'
import { People, Votes } from './answer/task-people'
import { storageKeyOf } from './answer/use-kept-draft'
import { ClaimBar } from './claim-bar'
import styles from './inbox.module.css'
import { SoFar, TaskData } from './so-far'

/** One task: the question, its form, and the run's earlier steps. */
export function TaskView({
  runId,
  pauseId,
  onChanged,
  onNext,
  onAnswered,
  onUndone,
  focus,
}: {
  runId: string
  pauseId: string
  onChanged: () => void
  onNext: () => void
  /** The answer was sent from here and may be held. */
  onAnswered: (task: Task, held: boolean) => void
  /** The answer was undone later, on any page. */
  onUndone: () => void
  focus: boolean
}) {
  const trpc = useTRPC()
  const query = useQuery(trpc.tasks.get.queryOptions({ runId, pauseId }))
  const task = query.data
  if (!task) {
    if (!query.error) return <Skeleton height={240} radius="md" />
    if (errorOf(query.error).code !== 'RUN_NOT_FOUND') {
      return <ErrorState error={query.error} onRetry={() => query.refetch()} />
    }
    return (
      <EmptyState icon={SearchX} title="Task not found">
        The link may be wrong, or the task is in another workspace.
      </EmptyState>
    )
  }
  const settled = () => {
    query.refetch().catch(() => {})
    onChanged()
  }
  return (
    <article className={styles.view}>
      <TaskHead task={task} />
      {task.status === 'open' && !task.held && <ClaimBar task={task} onChanged={settled} />}
      {task.refused && <Refused task={task} refused={task.refused} onDismissed={settled} />}
      {/* With the run's data in its place or behind it, the card comes after the people. */}
      <Question signal={withoutCard(task.signal)} beside={task.signal.show} />
      {task.status === 'open' && (
        <People people={task.people} remarks={task.remarks} reminders={task.reminders} dueAt={task.signal.dueAt} />
      )}
      <TaskData task={task} />
      {task.status === 'open' ? (
        <AnswerForm
          runId={runId}
          pauseId={task.pauseId}
          signal={task.signal}
          bar={task.people.bar}
          onSettled={settled}
          onAnswered={(held) => onAnswered(task, held)}
          onUndone={onUndone}
          held={task.held}
          focus={focus}
          keys
        />
      ) : (
        <Closed task={task} onNext={onNext} />
      )}
      <div className={styles.after}>
        <SoFar task={task} />
        <Comments runId={runId} />
      </div>
    </article>
  )
}

function withoutCard({ show: _below, ...signal }: Task['signal']): Task['signal'] {
  return signal
}

function TaskHead({ task }: { task: Task }) {
  const { path } = useTenant()
  return (
    <header className={styles.viewHead}>
      <div className={styles.viewTitle}>
        <h2>{task.title}</h2>
        <span className={styles.viewActions}>
          <Link href={path(`/runs/${task.runId}`)}>Open the run</Link>
          <TaskLinkButton task={task} />
        </span>
      </div>
      <p className={styles.viewMeta}>
        {task.run.businessKey !== null && <strong className={styles.key}>{task.run.businessKey}</strong>}
        <span>
          {task.run.workflowName}
          {task.run.startedVia === 'test' && <TestMark />}
        </span>
        <span>step {task.stepName}</span>
        <span>
          asked <Time at={task.createdAt} />
        </span>
        <span>
          <IdText id={task.runId} />
        </span>
      </p>
      {task.askedAgain && <AskedAgain {...task.askedAgain} />}
    </header>
  )
}

/** The run was moved to another version, which asks something else in the task's place. */
function AskedAgain({ version, at, what }: NonNullable<Task['askedAgain']>) {
  return (
    <p className={styles.again}>
      <RefreshCw size={15} aria-hidden />
      <span>
        Asked again since {version === null ? 'a draft' : `v${version}`}, <Time at={at} />
        {what.length > 0 && `: ${partsText(what)} changed`}.
      </span>
    </p>
  )
}

/** The submitted data, or the chosen action's label. */
function answerOf({ answer, signal, people }: Task): unknown {
  const value = (answer && 'value' in answer ? answer.value : {}) as {
    data?: object
    actionId?: string
    actionValue?: string
  }
  if (signal.type === 'collect_inputs') return value.data
  const chosen = signal.actions.find(({ id }) => id === value.actionId)?.label ?? value.actionId
  const sent = value.actionValue === value.actionId ? {} : { Value: value.actionValue }
  // With votes, each shows what was filled in with it.
  const filledIn = people.votes ? {} : value.data
  return { Chosen: chosen, ...sent, ...filledIn }
}

const CLOSED = {
  answered: { icon: CircleCheck, text: 'The run continues with this answer' },
  expired: { icon: CalendarX2, text: 'The time to answer is over, so no answer is needed' },
  withdrawn: { icon: CircleSlash, text: 'The run was stopped, so no answer is needed' },
} as const

/** Answered here or elsewhere, expired or withdrawn. Text typed here can still be copied. */
function Closed({ task, onNext }: { task: Task; onNext: () => void }) {
  const { id, user } = useTenant()
  const own = task.answeredBy?.id === user.id
  const status = task.status === 'open' ? 'withdrawn' : task.status
  const answered = status === 'answered'
  const { icon: Icon, text } = CLOSED[status]
  return (
    <>
      <Alert
        variant="light"
        color={answered ? 'green' : 'gray'}
        icon={<Icon size={18} aria-hidden />}
        title={
          !answered
            ? status === 'expired'
              ? 'Expired without an answer'
              : 'Withdrawn'
            : task.people.votes
              ? 'Decided by votes'
              : `Answered by ${own ? 'you' : (task.answeredBy?.name ?? 'someone')}`
        }
        styles={{
          root: { background: answered ? 'var(--status-completed-soft)' : 'var(--status-cancelled-soft)' },
          title: { color: 'var(--mantine-color-text)' },
        }}
      >
        {text}
        {task.answeredAt && (
          <>
            {' '}
            (<Time at={task.answeredAt} />)
          </>
        )}
        .
        {task.answer && 'value' in task.answer && (
          <FieldsView value={answerOf(task)} label="The answer" labels={task.labels} />
        )}
        {task.people.votes && task.people.votes.length > 0 ? (
          <Votes votes={task.people.votes} remarks={task.remarks} />
        ) : (
          task.remarks.map(({ by, text }) => (
            <p key={by} className={remarkStyles.remark}>
              “{text}”
            </p>
          ))
        )}
      </Alert>
      <KeptText storageKey={storageKeyOf(id, task.runId, task.pauseId)} />
      <div>
        <Button variant="default" onClick={onNext}>
          Next task
        </Button>
      </div>
    </>
  )
}
