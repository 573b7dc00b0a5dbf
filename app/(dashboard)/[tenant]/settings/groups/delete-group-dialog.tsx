'use client'
import { Skeleton, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ConfirmDialog } from '@/app/_ui/confirm-dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import type { Group } from '@/server/members/groups/find'
import { NamedIn } from './named-in'

export function DeleteGroupDialog({ group: { id, name }, onClose }: { group: Group; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const use = useQuery({ ...trpc.groups.get.queryOptions({ id }), gcTime: 0 })
  const remove = useMutation(
    trpc.groups.delete.mutationOptions({
      onSuccess: async () => {
        await queries.invalidateQueries(trpc.groups.list.queryFilter())
        onClose()
        notifyDone(`The group ${name} was deleted.`)
      },
    }),
  )
  const users = use.data?.usedBy ?? []
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      onConfirm={() => remove.mutate({ id })}
      title={`Delete the group “${name}”?`}
      confirm="Delete"
      busy={remove.isPending}
    >
      <Text size="sm">Its members stay in the workspace.</Text>
      {use.isPending && <Skeleton height={40} />}
      {use.error && <ErrorState error={use.error} onRetry={() => void use.refetch()} />}
      {use.data && users.length === 0 && <Text size="sm">No workflow assigns tasks to it.</Text>}
      {users.length > 0 && (
        <>
          <Text size="sm">
            Nobody can answer the tasks that these workflows assign to it alone, until a group has its name again:
          </Text>
          <NamedIn workflows={users} />
        </>
      )}
      {remove.error && <ErrorState error={remove.error} title="Not deleted" />}
    </ConfirmDialog>
  )
}
