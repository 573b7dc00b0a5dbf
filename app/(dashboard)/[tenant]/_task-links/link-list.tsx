'use client'
import { Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { Clock, Time, useNow } from '@/app/_ui/time'
import type { TaskLinkItem } from '@/server/views/tasks/links'
import styles from './link-list.module.css'

/** A task's links and whether they still work. */
export function LinkList({ links }: { links: TaskLinkItem[] }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const revoke = useMutation(
    trpc.taskLinks.revoke.mutationOptions({
      onSettled: () => queries.invalidateQueries(trpc.taskLinks.list.pathFilter()),
    }),
  )
  if (links.length === 0) return null
  return (
    <section aria-label="Links to this task">
      <ul className={styles.links}>
        {links.map((link) => (
          <li key={link.id}>
            <Group justify="space-between" gap="xs">
              <Text size="sm">
                Made by {link.madeBy}
                {link.madeFor !== null && ` for ${link.madeFor}`} <Time at={link.createdAt} />
              </Text>
              <State
                link={link}
                busy={revoke.isPending && revoke.variables.linkId === link.id}
                onRevoke={() => revoke.mutate({ runId: link.runId, linkId: link.id })}
              />
            </Group>
          </li>
        ))}
      </ul>
      {revoke.error && <ErrorState error={revoke.error} title="The link was not revoked" />}
    </section>
  )
}

function State({ link, busy, onRevoke }: { link: TaskLinkItem; busy: boolean; onRevoke: () => void }) {
  const now = useNow(15_000)
  const [word, at] = link.usedAt
    ? ['Used', link.usedAt]
    : link.revokedAt
      ? ['Revoked', link.revokedAt]
      : Date.parse(link.expiresAt) <= now
        ? ['Expired', link.expiresAt]
        : ['', '']
  if (word) {
    return (
      <Text size="sm" c="dimmed">
        {word} <Time at={at} />
      </Text>
    )
  }
  return (
    <Group gap="sm" wrap="nowrap">
      <Text size="sm" c="dimmed">
        Until <Clock at={link.expiresAt} />
      </Text>
      <Button variant="default" size="compact-sm" loading={busy} onClick={onRevoke}>
        Revoke
      </Button>
    </Group>
  )
}
