'use client'
import { Button, Skeleton } from '@mantine/core'
import { ErrorState } from '@/app/_ui/error-state'
import { Time } from '@/app/_ui/time'
import styles from './playground.module.css'
import { useThreads } from './use-threads'

export function ThreadList({
  agentId,
  chosen,
  onOpen,
}: {
  agentId: string
  chosen: string | null
  onOpen: (id: string) => void
}) {
  const list = useThreads(agentId)
  if (list.error) return <ErrorState error={list.error} onRetry={() => list.refetch()} />
  if (!list.data) return <Skeleton height={160} radius="md" />
  const items = list.data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <p className={styles.note}>No threads yet. Your first message starts one.</p>
  return (
    <>
      <ol className={styles.list}>
        {items.map(({ id, title, updatedAt, partner }) => (
          <li key={id}>
            <button
              type="button"
              className={styles.thread}
              aria-current={id === chosen ? 'true' : undefined}
              onClick={() => onOpen(id)}
            >
              <span className={styles.threadTitle}>{title ?? 'No messages yet'}</span>
              <span className={styles.note}>
                <Time at={updatedAt} />
                {partner && `, ${partner}`}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {list.hasNextPage && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={list.isFetchingNextPage}
          onClick={() => list.fetchNextPage()}
        >
          Earlier threads
        </Button>
      )}
    </>
  )
}
