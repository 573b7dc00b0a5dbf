import { CalendarX2, CircleCheck, ClipboardList, RefreshCw, UserCheck } from 'lucide-react'
import { Fragment, useEffect, useRef } from 'react'
import { WithFileNames } from '@/app/_ui/files/file-value'
import { TestMark } from '@/app/_ui/test-mark'
import { Time } from '@/app/_ui/time'
import { withoutFileTwice } from '@/server/definition/file-ids'
import type { TaskItem } from '@/server/views/tasks/list'
import { useTenant } from '../tenant-context'
import { Due } from './answer/task-people'
import styles from './inbox.module.css'
import { idOf } from './task-id'

/** The open tasks, each with a short summary of its run. */
export function TaskQueue({
  tasks,
  selected,
  onSelect,
}: {
  tasks: TaskItem[]
  selected: string
  onSelect: (id: string) => void
}) {
  return (
    <ul className={styles.tasks}>
      {tasks.map((task) => (
        <li key={idOf(task)}>
          <QueueItem task={task} selected={idOf(task) === selected} onSelect={onSelect} />
        </li>
      ))}
    </ul>
  )
}

const CLOSED = { answered: CircleCheck, expired: CalendarX2 } as const

function QueueItem({
  task,
  selected,
  onSelect,
}: {
  task: TaskItem
  selected: boolean
  onSelect: (id: string) => void
}) {
  const { user } = useTenant()
  // Business keys are often a field of the run: the row shows the value once.
  const details = withoutFileTwice(task.summary.filter(([, value]) => value !== task.businessKey))
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (selected) button.current?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  const ended = task.expired ? 'expired' : task.answeredAt ? 'answered' : undefined
  const Icon = ended ? CLOSED[ended] : task.type === 'collect_inputs' ? ClipboardList : UserCheck
  return (
    <button
      ref={button}
      type="button"
      className={styles.item}
      aria-current={selected || undefined}
      onClick={() => onSelect(idOf(task))}
    >
      <Icon size={16} aria-hidden className={styles.itemIcon} data-ended={ended} />
      <span className={styles.itemTitle}>{task.title}</span>
      <span className={styles.itemTime}>
        <Time at={task.answeredAt ?? task.createdAt} />
      </span>
      {task.answeredAt && <span className={styles.itemMeta}>{answered(task)}</span>}
      {!task.answeredAt && task.claimedBy && (
        <span className={styles.itemMeta}>
          Claimed by {task.claimedBy.id === user.id ? 'you' : task.claimedBy.name}
        </span>
      )}
      {task.askedAgainSince !== null && (
        <span className={`${styles.itemMeta} ${styles.again}`}>
          <RefreshCw size={13} aria-hidden /> Asked again since v{task.askedAgainSince}
        </span>
      )}
      {task.answering !== null && <span className={styles.itemMeta}>{task.answering} is answering</span>}
      {!task.answeredAt && (task.dueAt !== null || task.votes !== null) && (
        <span className={styles.itemMeta}>
          {task.dueAt !== null && <Due at={task.dueAt} />}
          {task.dueAt !== null && task.votes !== null && ' · '}
          {task.votes !== null && `${task.votes.votes} of ${task.votes.of} votes for ${task.votes.label}`}
        </span>
      )}
      <span className={`${styles.itemMeta} ${styles.itemDetails}`}>
        {task.businessKey !== null && <strong className={styles.key}>{task.businessKey} · </strong>}
        {task.workflowName}
        {task.startedVia === 'test' && <TestMark />}
        {details.length > 0 && ' · '}
        {details.map(([name, value], index) => (
          <Fragment key={name}>
            <span className={styles.detail}>
              {name} <WithFileNames text={value} />
              {index < details.length - 1 && ' ·'}
            </span>{' '}
          </Fragment>
        ))}
      </span>
    </button>
  )
}

/** Ada Lovelace chose Approve. */
function answered({ expired, label, votes, answeredBy }: TaskItem): string {
  if (expired) return votes?.cast ? `Expired after ${voted(votes.cast)}, undecided` : 'Expired without an answer'
  const who = answeredBy?.name ?? 'Someone'
  if (label === null) return `${who} filled it in`
  return votes === null ? `${who} chose ${label}` : `${label}, after ${voted(votes.cast)}`
}

function voted(votes: number): string {
  return votes === 1 ? '1 vote' : `${votes || 'no'} votes`
}
