'use client'
import { useQuery } from '@tanstack/react-query'
import { Radio } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { Time } from '@/app/_ui/time'
import { useTenant } from '../tenant-context'
import { Card } from './card'
import styles from './home.module.css'

/** The published workflows, which callers can start. */
export function LiveCard() {
  const trpc = useTRPC()
  const { path } = useTenant()
  const live = useQuery({
    ...trpc.workflows.list.queryOptions({ status: 'published', limit: 6 }),
    refetchInterval: 15_000,
  })
  const total = live.data?.total ?? 0
  return (
    <Card
      title={total > 0 ? `Published workflows (${total})` : 'Published workflows'}
      more={{ href: path('/workflows?status=published'), label: 'See all' }}
      query={live}
    >
      {({ items }) =>
        items.length === 0 ? (
          <p className={styles.note}>
            Nothing is published yet. Until a workflow is published, callers start its draft.
          </p>
        ) : (
          <ul className={styles.rows}>
            {items.map(({ id, name, publishedNumber, unpublishedChanges, lastRun }) => (
              <li key={id}>
                <Link className={styles.row} href={path(`/workflows/${id}`)}>
                  <Radio size={18} color="var(--status-completed)" aria-hidden />
                  <span className={styles.what}>
                    <span className={styles.title}>{name}</span>
                    <span className={styles.quiet}>
                      Version {publishedNumber}
                      {unpublishedChanges > 0 &&
                        `, ${unpublishedChanges} unpublished ${unpublishedChanges === 1 ? 'change' : 'changes'}`}
                    </span>
                  </span>
                  <span className={styles.when}>{lastRun ? <Time at={lastRun.startTime} /> : 'No runs yet'}</span>
                </Link>
              </li>
            ))}
          </ul>
        )
      }
    </Card>
  )
}
