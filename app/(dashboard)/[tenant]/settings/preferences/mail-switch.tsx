'use client'
import { Divider, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { useTenant } from '../../tenant-context'

/** Turns mails about the user's own tasks off and on. Hidden if the service sends no mails. */
export function MailSwitch() {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { name } = useTenant()
  const mails = useQuery(trpc.members.ownMails.queryOptions())
  const set = useMutation(
    trpc.members.setOwnMails.mutationOptions({
      onSettled: () => queries.invalidateQueries(trpc.members.ownMails.pathFilter()),
    }),
  )
  if (!mails.data?.sends) return null
  const { tasks } = set.isPending ? set.variables : mails.data
  return (
    <>
      <Divider />
      <Text size="sm" c="dimmed">
        Saved for you in {name}, on every device.
      </Text>
      <Switch
        label="E-mails about your tasks"
        description="When a task names you or is given to you, for its reminders, and when it is overdue"
        checked={tasks}
        disabled={set.isPending}
        onChange={(event) => set.mutate({ tasks: event.currentTarget.checked })}
      />
      {set.error && <ErrorState error={set.error} title="The setting was not saved" />}
    </>
  )
}
