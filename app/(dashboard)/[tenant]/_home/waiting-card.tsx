'use client'
import { useQuery } from '@tanstack/react-query'
import { CirclePause } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { Time } from '@/app/_ui/time'
import { idOf } from '../inbox/task-id'
import { useTenant } from '../tenant-context'
import { Card } from './card'
import styles from './home.module.css'

const SHOWN = 5

/** The tasks that have waited longest. */
export function WaitingCard() {
  const trpc = useTRPC()
  const { path } = useTenant()
  const tasks = useQuery(trpc.tasks.list.queryOptions({ limit: SHOWN }))
  const count = useQuery(trpc.tasks.count.queryOptions({}))
  const number = count.data && count.data.count > 0 ? ` (${count.data.count}${count.data.more ? '+' : ''})` : ''
  const shown = tasks.data?.tasks.length ?? SHOWN
  const all =
    count.data && count.data.count > shown ? `See all ${count.data.count}${count.data.more ? '+' : ''}` : 'Inbox'
  return (
    <Card title={`Waiting for people${number}`} more={{ href: path('/inbox'), label: all }} query={tasks}>
      {({ tasks }) =>
        tasks.length === 0 ? (
          <p className={styles.note}>Nothing is waiting for an answer.</p>
        ) : (
          <ul className={styles.rows}>
            {tasks.map((task) => (
              <li key={`${task.runId} ${task.pauseId}`}>
                <Link className={styles.row} href={path(`/inbox?task=${encodeURIComponent(idOf(task))}`)}>
                  <CirclePause size={18} color="var(--status-paused)" aria-hidden />
                  <span className={styles.what}>
                    <span className={styles.title}>{task.title}</span>
                    <span className={styles.quiet}>
                      {task.businessKey === null ? '' : `${task.businessKey} · `}
                      {task.workflowName}
                    </span>
                  </span>
                  <span className={styles.when}>
                    <Time at={task.createdAt} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )
      }
    </Card>
  )
}
