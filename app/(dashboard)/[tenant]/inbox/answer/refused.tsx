import { Alert, Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { WhatToDo } from '@/app/_ui/error-code'
import { FieldsView } from '@/app/_ui/fields-view'
import { notifyError } from '@/app/_ui/notify'
import type { Task } from '@/server/views/tasks/get'
import type { ShownRefusal } from '@/server/views/tasks/held'
import { useTenant } from '../../tenant-context'
import styles from './remark.module.css'

/** Shows the user their rejected answer and the reason. */
export function Refused({
  task,
  refused,
  onDismissed,
}: {
  task: Task
  refused: ShownRefusal
  onDismissed: () => void
}) {
  const trpc = useTRPC()
  const cache = useQueryClient()
  const { user } = useTenant()
  const dismiss = useMutation(
    trpc.tasks.dismiss.mutationOptions({
      onSuccess: () => {
        cache.invalidateQueries({ queryKey: trpc.tasks.refused.queryKey() }).catch(() => {})
        onDismissed()
      },
      onError: (error) => notifyError(error, 'The notice was not dismissed'),
    }),
  )
  const { label, data, remark } = refused
  return (
    <Alert
      variant="light"
      color="gray"
      icon={<CircleAlert size={18} aria-hidden />}
      title="Your answer was not taken"
      styles={{
        root: { background: 'var(--status-paused-soft)' },
        icon: { color: 'var(--status-paused)' },
        title: { color: 'var(--mantine-color-text)' },
      }}
    >
      {reason(task, refused, user.id)}
      {label !== null && ` You had chosen “${label}”.`} <WhatToDo code={refused.code} />
      {remark !== null && <p className={styles.remark}>Your remark: “{remark}”</p>}
      {data && 'value' in data && <FieldsView value={data.value} label="Data you had entered" labels={task.labels} />}
      <Button
        variant="default"
        size="compact-sm"
        display="block"
        mt="xs"
        loading={dismiss.isPending}
        onClick={() => dismiss.mutate({ runId: task.runId, pauseId: task.pauseId })}
      >
        Dismiss
      </Button>
    </Alert>
  )
}

function reason({ status, answeredBy }: Task, { code, message }: ShownRefusal, me: string): string {
  if (code !== 'RUN_NOT_PAUSED') return message
  if (status === 'withdrawn') return 'The run was stopped first.'
  if (status === 'expired') return 'The task expired first.'
  return answeredBy?.id === me ? 'You answered first, elsewhere.' : `${answeredBy?.name ?? 'Someone'} answered first.`
}
