'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, UsersRound } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import type { Group } from '@/server/members/groups/find'
import styles from '../settings.module.css'
import { DeleteGroupDialog } from './delete-group-dialog'
import { GroupTable } from './group-table'

// The field for members is large, and only opened dialogs need it.
const GroupDialog = dynamic(() => loadDialog(() => import('./group-dialog').then((module) => module.GroupDialog)), {
  loading: WaitingDialog,
})

/** Named sets of members, to which workflows assign tasks. */
export function GroupList() {
  const trpc = useTRPC()
  const list = useQuery(trpc.groups.list.queryOptions())
  const members = useQuery(trpc.members.list.queryOptions())
  const [editing, setEditing] = useState<{ group: Group | null } | null>(null)
  const [deleting, setDeleting] = useState<Group | null>(null)
  const create = () => setEditing({ group: null })
  useSingleKeys({ c: create })
  const error = list.error ?? members.error
  return (
    <>
      <PageHeader
        title="Groups"
        actions={
          <Button leftSection={<Plus size={16} aria-hidden />} onClick={create}>
            New group
          </Button>
        }
      />
      <PageBody>
        <div className={styles.controls}>
          <span className={styles.quiet}>
            A group stands for its members wherever a step asks who may answer. A task for a group is in the inbox of
            each member, under Mine, and any of them may answer it.
          </span>
        </div>
        {error && <ErrorState error={error} onRetry={() => void Promise.all([list.refetch(), members.refetch()])} />}
        {!error && (list.isPending || members.isPending) && <Skeleton height={140} radius="md" />}
        {list.data &&
          members.data &&
          (list.data.length > 0 ? (
            <GroupTable
              groups={list.data}
              members={members.data}
              onEdit={(group) => setEditing({ group })}
              onDelete={setDeleting}
            />
          ) : (
            <EmptyState
              icon={UsersRound}
              title="No groups yet"
              actions={
                <Button variant="default" onClick={create}>
                  New group
                </Button>
              }
            >
              Create one for people who share tasks, such as Finance, and assign tasks to it by name.
            </EmptyState>
          ))}
      </PageBody>
      {editing && members.data && (
        <GroupDialog group={editing.group} members={members.data} onClose={() => setEditing(null)} />
      )}
      {deleting && <DeleteGroupDialog group={deleting} onClose={() => setDeleting(null)} />}
    </>
  )
}
