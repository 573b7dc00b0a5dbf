'use client'
import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { CopyButton } from '@/app/_ui/copy-button'
import { Dialog } from '@/app/_ui/dialog'
import { IsoDurationInput } from '@/app/_ui/duration-input'
import { ErrorState } from '@/app/_ui/error-state'
import { Clock } from '@/app/_ui/time'
import { LinkList } from './link-list'

/** Whose length is fixed, up to 30 days. */
const LIVES = ['min', 'h', 'd', 'w'] as const

/** Creates a task link, shows it once, and lists earlier links. */
export function LinkDialog({ runId, pauseId, onClose }: { runId: string; pauseId: string; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [expiresIn, setExpiresIn] = useState<string | undefined>('P7D')
  const links = useQuery(trpc.taskLinks.list.queryOptions({ runId, pauseId }))
  const make = useMutation(
    trpc.taskLinks.create.mutationOptions({
      onSuccess: () => queries.invalidateQueries(trpc.taskLinks.list.pathFilter()),
    }),
  )
  const made = make.data
  return (
    <Dialog onClose={onClose} title="Share a link to this task" size="lg">
      <Stack>
        <Text size="sm">
          Anyone with the link can answer this task once, in your name, without signing in. They see what the task
          shows: its title, message, card and due time. They see nothing else of the run.
        </Text>
        {made ? (
          <>
            <CodeBlock label="The link" text={made.url} wrap />
            <Group justify="space-between">
              <Text size="sm" c="dimmed">
                It works until <Clock at={made.expiresAt} /> and is not shown again.
              </Text>
              <CopyButton text={made.url} label="Copy the link">
                Copy the link
              </CopyButton>
            </Group>
          </>
        ) : (
          <Group align="flex-end">
            <IsoDurationInput
              id="works-for"
              label="Works for"
              help="At most 30 days, or until the task’s own time is up"
              value={expiresIn}
              unset="d"
              units={LIVES}
              onChange={setExpiresIn}
              readOnly={false}
              autofocus
            />
            <Button
              loading={make.isPending}
              disabled={expiresIn === undefined}
              onClick={() => make.mutate({ runId, body: { pauseId, ...(expiresIn && { expiresIn }) } })}
            >
              Make a link
            </Button>
          </Group>
        )}
        {make.error && <ErrorState error={make.error} title="The link was not made" />}
        {links.error ? (
          <ErrorState error={links.error} onRetry={() => links.refetch()} />
        ) : (
          <LinkList links={links.data ?? []} />
        )}
      </Stack>
    </Dialog>
  )
}
