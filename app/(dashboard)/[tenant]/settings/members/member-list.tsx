'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import { useTenant } from '../../tenant-context'
import styles from '../settings.module.css'
import { InviteDialog } from './invite-dialog'
import { MemberTable } from './member-table'
import { PendingInvitations } from './pending-invitations'

/** The members, the pending invitations, and what each role may do. */
export function MemberList({ children }: { children: ReactNode }) {
  const trpc = useTRPC()
  const { may, role } = useTenant()
  const allowed = may('member:manage')
  const list = useQuery({ ...trpc.members.list.queryOptions(), enabled: allowed, refetchInterval: 30_000 })
  const [inviting, setInviting] = useState(false)
  useSingleKeys(allowed ? { i: () => setInviting(true) } : {})
  return (
    <>
      <PageHeader
        title="Members"
        actions={
          allowed && (
            <Button leftSection={<UserPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
              Invite
            </Button>
          )
        }
      />
      <PageBody>
        {!allowed && <p className={styles.quiet}>Your role is {role}. Admins and owners manage the members.</p>}
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {allowed && list.isPending && <Skeleton height={140} radius="md" />}
        {list.data && <MemberTable members={list.data} />}
        {allowed && <PendingInvitations />}
        {children}
      </PageBody>
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  )
}
