'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { idOf } from '../../inbox/task-id'
import { useTenant } from '../../tenant-context'
import styles from '../start.module.css'

/** Confirms a start, with links to the starter's own first task, if the run has paused for one, and to the run. */
export function Started({ runId, onAgain }: { runId: string; onAgain: () => void }) {
  const trpc = useTRPC()
  const { path } = useTenant()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const first = useQuery({
    ...trpc.tasks.first.queryOptions({ runId }),
    retry: false,
    // Later tasks appear in the inbox.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const task = first.data
  return (
    <section className={styles.started} aria-label="Started">
      <h2 ref={heading} tabIndex={-1}>
        <CircleCheck size={20} aria-hidden /> It was started
      </h2>
      <div aria-live="polite">
        {first.isPending ? (
          <Skeleton height={20} width="60%" />
        ) : (
          <p>
            {task
              ? `The next step is yours: ${task.title}`
              : 'If the run needs you later, the task appears in your inbox.'}
          </p>
        )}
      </div>
      <div className={styles.next}>
        {task && (
          <Button component={Link} href={path(`/inbox?task=${encodeURIComponent(idOf(task))}`)}>
            Continue
          </Button>
        )}
        <Button variant="default" component={Link} href={path(`/runs/${runId}`)}>
          Open the run
        </Button>
        <Button variant="subtle" onClick={onAgain}>
          Start another
        </Button>
      </div>
    </section>
  )
}
