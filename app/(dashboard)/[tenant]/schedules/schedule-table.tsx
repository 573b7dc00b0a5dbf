'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CirclePause, PencilLine, Play, Trash2 } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { notifyError } from '@/app/_ui/notify'
import { RowAction, RowMenu } from '@/app/_ui/row-menu'
import { StatusPill } from '@/app/_ui/status-pill'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import type { ScheduleItem } from '@/server/views/schedules/browse'
import styles from '../settings/settings.module.css'
import { useTenant } from '../tenant-context'
import { cronText } from './cron-text'
import { ScheduledTime } from './scheduled-time'
import own from './schedules.module.css'

type OnOpen = (dialog: 'edit' | 'delete', schedule: ScheduleItem) => void

export function ScheduleTable({ schedules, onOpen }: { schedules: ScheduleItem[]; onOpen: OnOpen }) {
  const { path, may } = useTenant()
  return (
    <table className={styles.table}>
      <TableHead columns={['Schedule', 'Status', 'Next times', 'Last time']} />
      <tbody>
        {schedules.map((schedule) => (
          <tr key={schedule.id}>
            <td>
              <div className={styles.stack}>
                <span className={styles.strong}>{schedule.name}</span>
                <Link href={path(`/workflows/${schedule.workflowId}`)}>{schedule.workflowName}</Link>
                <Rule schedule={schedule} />
              </div>
            </td>
            <td>
              <div className={styles.stack}>
                <StatusPill
                  status={schedule.enabled ? 'enabled' : 'paused'}
                  label={schedule.enabled ? 'Active' : 'Paused'}
                />
                {schedule.archived && <span className={styles.bad}>Its workflow is archived</span>}
              </div>
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Next times</span>
              <div className={own.times}>
                {schedule.next.length === 0 && <span className={styles.quiet}>None</span>}
                {schedule.next.map((at) => (
                  <ScheduledTime key={at} at={at} zone={schedule.timeZone} />
                ))}
              </div>
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Last time</span>
                <Last last={schedule.last} />
              </div>
            </td>
            <td>{may('workflow:publish') && <ScheduleMenu schedule={schedule} onOpen={onOpen} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The schedule's rule: in words where possible, and as cron. */
function Rule({ schedule: { cron, timeZone } }: { schedule: ScheduleItem }) {
  const text = cronText(cron)
  return (
    <>
      {text !== null && (
        <span>
          {text}, {timeZone}
        </span>
      )}
      <span className={styles.quiet}>
        <code>{cron}</code>
        {text === null && ` ${timeZone}`}
      </span>
    </>
  )
}

function Last({ last }: { last: ScheduleItem['last'] }) {
  const { path } = useTenant()
  if (!last) return <span className={styles.quiet}>Not yet</span>
  return (
    <>
      <Time at={last.at} />
      {last.runId && <Link href={path(`/runs/${last.runId}`)}>Started a run</Link>}
      {last.status === 'skipped' && <span className={styles.quiet}>Skipped: {last.error}</span>}
      {last.status === 'failed' && <span className={styles.bad}>{last.error}</span>}
    </>
  )
}

function ScheduleMenu({ schedule, onOpen }: { schedule: ScheduleItem; onOpen: OnOpen }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { id, workflowId, name, enabled } = schedule
  const update = useMutation(
    trpc.schedules.update.mutationOptions({
      onError: (error) => notifyError(error, `${name} was not changed`),
      onSettled: () => queries.invalidateQueries(trpc.schedules.pathFilter()),
    }),
  )
  return (
    <RowMenu of={name}>
      <RowAction icon={PencilLine} onClick={() => onOpen('edit', schedule)}>
        Edit
      </RowAction>
      <RowAction
        icon={enabled ? CirclePause : Play}
        onClick={() => update.mutate({ workflowId, scheduleId: id, body: { enabled: !enabled } })}
      >
        {enabled ? 'Pause' : 'Resume'}
      </RowAction>
      <RowAction icon={Trash2} destructive onClick={() => onOpen('delete', schedule)}>
        Delete
      </RowAction>
    </RowMenu>
  )
}
