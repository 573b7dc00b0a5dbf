import { Button, Menu, Skeleton, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ChevronDown, Hand } from 'lucide-react'
import { useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { errorPage, hasPage } from '@/app/_ui/error-code'
import { notifyError } from '@/app/_ui/notify'
import { Time } from '@/app/_ui/time'
import type { Task } from '@/server/views/tasks/get'
import { useTenant } from '../tenant-context'
import styles from './inbox.module.css'
import { useTasksChanged } from './use-tasks-changed'

/** An open task's claim, and the buttons to change it. */
export function ClaimBar({ task, onChanged }: { task: Task; onChanged: () => void }) {
  const trpc = useTRPC()
  const { user, may } = useTenant()
  const tasksChanged = useTasksChanged()
  const claim = useMutation(
    trpc.tasks.claim.mutationOptions({
      onError: (error) => notifyError(error, 'The task was not changed'),
      onSettled: () => {
        tasksChanged()
        onChanged()
      },
    }),
  )
  const { runId, pauseId, people } = task
  const by = task.claim
  const own = by?.id === user.id
  const give = (to: string | null) => claim.mutate({ runId, pauseId, to, from: by?.id ?? null })
  if (!may('task:answer')) return by ? <p className={styles.hint}>Claimed by {by.name}</p> : null
  return (
    <section className={styles.claim} aria-label="Claim">
      <Text component="span" size="sm" {...(by ? {} : { c: 'dimmed' })}>
        {by ? (
          <>
            Claimed by {own ? 'you' : by.name} <Time at={by.at} />
          </>
        ) : (
          'Unclaimed'
        )}
      </Text>
      {!own && people.bar === null && (
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<Hand size={14} aria-hidden />}
          loading={claim.isPending}
          onClick={() => give(user.id)}
        >
          {by ? 'Take over' : 'Claim'}
        </Button>
      )}
      {by && (
        <Button variant="default" size="compact-sm" disabled={claim.isPending} onClick={() => give(null)}>
          Release
        </Button>
      )}
      <Takers task={task} disabled={claim.isPending} onChoose={give} />
    </section>
  )
}

/** From this count on, the list has a search field. */
const MANY = 8

function Takers({
  task: { runId, pauseId, claim },
  disabled,
  onChoose,
}: {
  task: Task
  disabled: boolean
  onChoose: (to: string) => void
}) {
  const trpc = useTRPC()
  const [opened, setOpened] = useState(false)
  const [text, setText] = useState('')
  const takers = useQuery({ ...trpc.tasks.takers.queryOptions({ runId, pauseId }), enabled: opened })
  const others = (takers.data ?? []).filter(({ id }) => id !== claim?.id)
  const found = others.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  return (
    <Menu opened={opened} onChange={setOpened} position="bottom-start" withinPortal>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          disabled={disabled}
          rightSection={<ChevronDown size={14} aria-hidden />}
        >
          {claim ? 'Reassign' : 'Give to'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        {takers.isPending && <Skeleton height={32} width={160} m={4} />}
        {takers.error && <TakersError error={takers.error} />}
        {others.length > MANY && (
          <TextInput
            aria-label="Search members"
            placeholder="Name"
            size="xs"
            m={4}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        {takers.data && found.length === 0 && <Menu.Label>Nobody else may answer this task</Menu.Label>}
        {found.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => onChoose(id)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** A menu has room for a label, and may contain only menu items. */
function TakersError({ error }: { error: unknown }) {
  const { message, code } = errorOf(error)
  return (
    <>
      <Menu.Label>{message}</Menu.Label>
      {hasPage(code) && (
        <Menu.Item component="a" href={errorPage(code)} target="_blank" rel="noreferrer">
          What to do
        </Menu.Item>
      )}
    </>
  )
}
