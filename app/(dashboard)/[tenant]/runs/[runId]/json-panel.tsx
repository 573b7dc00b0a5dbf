'use client'
import { Button, Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { ErrorState } from '@/app/_ui/error-state'
import { sizeText } from '@/app/_ui/size-text'
import styles from './run.module.css'

/** The exact response body of the status call. */
export function JsonPanel({ runId, ended }: { runId: string; ended: boolean }) {
  const trpc = useTRPC()
  const [whole, setWhole] = useState(false)
  const query = useQuery({
    ...trpc.runs.statusText.queryOptions({ runId, whole }),
    refetchInterval: ended ? false : 3_000,
    placeholderData: (before) => before,
  })
  if (query.error) return <ErrorState error={query.error} onRetry={() => query.refetch()} />
  if (!query.data) return <Skeleton height={320} radius="md" />
  const { text, size, cut } = query.data
  return (
    <section aria-label="JSON of the run">
      <Group gap="sm" mb="xs">
        <Text size="sm" c="dimmed">
          What <code>GET /api/workflow/status/{runId}</code> returns, {sizeText(size)}
          {cut && '; only the start is shown'}
        </Text>
        {cut && (
          <Button variant="default" size="compact-sm" loading={query.isFetching} onClick={() => setWhole(true)}>
            Show {sizeText(size)}
          </Button>
        )}
      </Group>
      <div className={styles.json}>
        <CodeBlock text={text} label="JSON of the run" />
      </div>
    </section>
  )
}
