'use client'
import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { roleName } from '@/app/_ui/role-name'
import { StatusPill } from '@/app/_ui/status-pill'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import type { PendingInvitation } from '@/server/members/invitations/list'
import styles from '../settings.module.css'
import { InvitationLink } from './invitation-link'
import { useMemberRoles } from './use-member-roles'

/** Invited people who have not joined yet. Renders nothing without any. */
export function PendingInvitations() {
  const trpc = useTRPC()
  const list = useQuery({ ...trpc.members.invitations.queryOptions(), refetchInterval: 30_000 })
  if (list.error) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />
  if (!list.data || list.data.length === 0) return null
  return (
    <section className={styles.section} aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <table className={styles.table}>
        <TableHead columns={['Email', 'Status', 'Role', 'Invited']} />
        <tbody>
          {list.data.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function InvitationRow({ invitation }: { invitation: PendingInvitation }) {
  const { id, email, role, invitedBy, createdAt, expired, expiresAt } = invitation
  const { manages } = useMemberRoles()
  return (
    <tr>
      <td>
        <span className={`${styles.strong} ${styles.wrap}`}>{email}</span>
      </td>
      <td>
        <div className={styles.stack}>
          <StatusPill status={expired ? 'disabled' : 'paused'} label={expired ? 'Expired' : 'Waiting'} />
          <span className={styles.quiet}>
            {expired ? 'ended' : 'ends'} <Time at={expiresAt} />
          </span>
        </div>
      </td>
      <td>
        <span className={`${styles.label} ${styles.quiet}`}>Role</span>
        {roleName(role)}
      </td>
      <td>
        <div className={styles.stack}>
          <span className={`${styles.label} ${styles.quiet}`}>Invited</span>
          <Time at={createdAt} />
          {invitedBy && <span className={styles.quiet}>by {invitedBy}</span>}
        </div>
      </td>
      <td className={styles.actions}>{manages(role) && <InvitationActions id={id} email={email} />}</td>
    </tr>
  )
}

function InvitationActions({ id, email }: { id: string; email: string }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [shown, setShown] = useState(false)
  const refresh = () => queries.invalidateQueries(trpc.members.invitations.pathFilter())
  const renew = useMutation(
    trpc.members.renewInvitation.mutationOptions({
      onSuccess: () => setShown(true),
      onError: (error) => notifyError(error, 'No new link was created'),
    }),
  )
  const revoke = useMutation(
    trpc.members.revokeInvitation.mutationOptions({
      onSuccess: () => {
        notifyDone(`The link for ${email} no longer works.`)
        return refresh()
      },
      onError: (error) => notifyError(error, 'The invitation was not revoked'),
    }),
  )
  return (
    <>
      <div className={styles.buttons}>
        <Button
          size="compact-sm"
          variant="default"
          loading={renew.isPending}
          aria-label={`New link for ${email}`}
          onClick={() => renew.mutate({ id })}
        >
          New link
        </Button>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          loading={revoke.isPending}
          aria-label={`Revoke the invitation of ${email}`}
          onClick={() => revoke.mutate({ id })}
        >
          Revoke
        </Button>
      </div>
      {shown && renew.data && (
        <InvitationLink
          {...renew.data}
          onClose={() => {
            setShown(false)
            void refresh()
          }}
        />
      )}
    </>
  )
}
