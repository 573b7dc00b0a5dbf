'use client'
import { Button, Group, Kbd, Skeleton, Text, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { FilesOfText, WithFileNames } from '@/app/_ui/files/file-value'
import { notifyError } from '@/app/_ui/notify'
import { onSendKey } from '@/app/_ui/send-key'
import { Time } from '@/app/_ui/time'
import type { Comment } from '@/server/views/runs/comments'
import { useTenant } from '../tenant-context'
import styles from './comments.module.css'

const POLL_MS = 8_000
const MAX_CHARS = 5_000

/** Members' comments on a run, the same on its page and at each of its tasks. */
export function Comments({ runId }: { runId: string }) {
  const trpc = useTRPC()
  const { may } = useTenant()
  const query = useQuery({ ...trpc.runs.comments.queryOptions({ runId }), refetchInterval: POLL_MS })
  const changed = () => void query.refetch()
  return (
    <section className={styles.comments} aria-labelledby={`comments-${runId}`}>
      <h3 id={`comments-${runId}`}>Comments</h3>
      {query.error && !query.data && <ErrorState error={query.error} onRetry={changed} />}
      {query.isPending && <Skeleton height={24} width={200} />}
      {query.data?.length === 0 && !may('task:answer') && <p className={styles.none}>There are no comments.</p>}
      {query.data && query.data.length > 0 && (
        <ul className={styles.list}>
          {query.data.map((comment) => (
            <li key={comment.id}>
              <OneComment runId={runId} comment={comment} onDeleted={changed} />
            </li>
          ))}
        </ul>
      )}
      {query.data && may('task:answer') && <NewComment runId={runId} onAdded={changed} />}
    </section>
  )
}

function OneComment({
  runId,
  comment: { id, author, own, mayDelete, task, text, at },
  onDeleted,
}: {
  runId: string
  comment: Comment
  onDeleted: () => void
}) {
  const trpc = useTRPC()
  const remove = useMutation(
    trpc.runs.deleteComment.mutationOptions({
      onSuccess: onDeleted,
      onError: (error) => notifyError(error, 'The comment was not deleted'),
    }),
  )
  return (
    <article>
      <header className={styles.head}>
        <strong>{own ? 'You' : author}</strong>
        {task !== null && <span>with the answer to {task}</span>} <Time at={at} />
        {mayDelete && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            loading={remove.isPending}
            onClick={() => remove.mutate({ runId, id })}
          >
            Delete
          </Button>
        )}
      </header>
      <p className={styles.text}>
        <WithFileNames text={text} />
      </p>
      <FilesOfText text={text} />
    </article>
  )
}

function NewComment({ runId, onAdded }: { runId: string; onAdded: () => void }) {
  const trpc = useTRPC()
  const [text, setText] = useState('')
  const add = useMutation(
    trpc.runs.comment.mutationOptions({
      onSuccess: () => {
        setText('')
        onAdded()
      },
    }),
  )
  const send = () => {
    if (text.trim() !== '' && !add.isPending) add.mutate({ runId, text })
  }
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onKeyDown={onSendKey(send)}
    >
      <Textarea
        aria-label="New comment"
        placeholder="Write a comment"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maxLength={MAX_CHARS}
        autosize
        minRows={1}
        maxRows={10}
        disabled={add.isPending}
      />
      {add.error && <ErrorState error={add.error} title="The comment was not added" />}
      {text.trim() !== '' && (
        <Group gap="sm">
          <Button type="submit" size="compact-sm" loading={add.isPending}>
            Comment
          </Button>
          <Text size="xs" c="dimmed" className="with-keyboard">
            <Kbd size="xs">Ctrl</Kbd> + <Kbd size="xs">Enter</Kbd>
          </Text>
        </Group>
      )}
    </form>
  )
}
