'use client'
import { useMounted } from '@mantine/hooks'
import { CalendarClock } from 'lucide-react'
import dynamic from 'next/dynamic'
import { inPlace, loadPart } from '@/app/_ui/part'
import { Clock, Time, useNow } from '@/app/_ui/time'
import { reminderText, type ShownReminder } from '@/server/definition/reminder'
import type { ShownVote, TaskPeople } from '@/server/views/tasks/people'
import type { ShownRemark } from '@/server/views/tasks/remarks'
import { useTenant } from '../../tenant-context'
import styles from './task-people.module.css'

/** Only for votes with fields; the page of a task link has neither. */
const FieldsView = dynamic(() => loadPart(() => import('@/app/_ui/fields-view').then((module) => module.FieldsView)), {
  loading: inPlace(null),
})

/**
 * A task's due time, marked once it has passed.
 * @param said whether the text before it contains "due"
 */
export function Due({ at, said = false }: { at: string; said?: boolean }) {
  const now = useNow(15_000)
  // A task may become overdue between the server's HTML and the browser's; hydration would keep the old text.
  const late = useMounted() && Date.parse(at) < now
  return (
    <span className={styles.due} data-late={late || undefined} suppressHydrationWarning>
      <CalendarClock size={14} aria-hidden />
      {late ? 'Overdue: due ' : said ? '' : 'Due '}
      <Time at={at} />
    </span>
  )
}

/** Who may answer a task, its reminders, and the votes so far. Empty for a task that anyone may answer alone. */
export function People({
  people,
  remarks,
  reminders,
  dueAt,
}: {
  people: TaskPeople
  remarks: ShownRemark[]
  reminders: ShownReminder[]
  dueAt?: string | undefined
}) {
  const { assignees, votes, needs, voters } = people
  if (!assignees && !votes && !dueAt && reminders.length === 0) return null
  return (
    <dl className={styles.people}>
      {dueAt && (
        <div>
          <dt>Due</dt>
          <dd>
            <Due at={dueAt} said />
          </dd>
        </div>
      )}
      {assignees && (
        <div>
          <dt>Assigned to</dt>
          <dd>{assignees.join(', ')}</dd>
        </div>
      )}
      {reminders.length > 0 && (
        <div>
          <dt>Reminders</dt>
          <dd>
            <Reminders reminders={reminders} />
          </dd>
        </div>
      )}
      {votes && (
        <>
          <div>
            <dt>Votes</dt>
            <dd>
              {needs.map(({ label, votes, cast }) => `${cast} of ${votes} for ${label}`).join(', ')}
              {voters !== null && `; ${votes.length} of ${voters} people voted`}
            </dd>
          </div>
          <div>
            <dt>Who voted</dt>
            <dd>{votes.length === 0 ? 'nobody yet' : <Votes votes={votes} remarks={remarks} />}</dd>
          </div>
        </>
      )}
    </dl>
  )
}

/** This many reminders are listed, the latest ones. */
const REMINDERS = 5

/** The latest reminders of a task with their times, and its hand-over. */
export function Reminders({ reminders }: { reminders: ShownReminder[] }) {
  const shown = reminders.slice(-REMINDERS)
  const earlier = reminders.length - shown.length
  return (
    <ul className={styles.votes}>
      {earlier > 0 && <li>{earlier === 1 ? 'One earlier reminder' : `${earlier} earlier reminders`}</li>}
      {shown.map((one) => (
        <li key={one.at}>
          {reminderText(one)} <Clock at={one.at} />
        </li>
      ))}
    </ul>
  )
}

export function Votes({ votes, remarks }: { votes: ShownVote[]; remarks: ShownRemark[] }) {
  const { user } = useTenant()
  const saidBy = (person: string) => remarks.filter(({ by }) => by === person).map(({ text }) => `: “${text}”`)
  return (
    <ul className={styles.votes}>
      {votes.map(({ by, name, label, value, data, via, at }) => (
        <li key={by}>
          {by === user.id ? 'You' : name}: <strong>{label}</strong>
          {value !== null && ` “${value}”`}
          {via !== null && `, through ${via}`} <Clock at={at} />
          {saidBy(by)}
          {data && 'value' in data.value && (
            <FieldsView value={data.value.value} label={`What ${name} filled in`} labels={data.labels} />
          )}
        </li>
      ))}
    </ul>
  )
}

/** Why the current user may not answer. */
export const BARS: Record<NonNullable<TaskPeople['bar']>, string> = {
  NOT_ASSIGNED: 'You cannot answer: this task is assigned to other people.',
  SELF_APPROVAL: 'You started this run, so someone else must decide.',
  ALREADY_VOTED: 'You have voted. The run continues once enough others have voted.',
}
