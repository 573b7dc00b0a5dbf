import type { Metadata } from 'next'
import { headers } from 'next/headers'
import { notFound } from 'next/navigation'
import { Link } from '@/app/_ui/link'
import { roleName } from '@/app/_ui/role-name'
import { identityProviderNames, readSession } from '@/server/auth/session'
import { now } from '@/server/clock'
import { database } from '@/server/database'
import { lookUpInvitation } from '@/server/members/invitations/look-up'
import styles from '../../words.module.css'
import { AcceptForm } from './accept-form'

export const metadata: Metadata = { title: 'Invitation', robots: { index: false } }

const CLOSED = {
  used: ['This invitation has been used', 'Each link works once. If that was you, sign in.'],
  revoked: ['This invitation was withdrawn', 'Ask the person who invited you for a new one.'],
  expired: [
    'This invitation has expired',
    'A link works for seven days. Ask the person who invited you for a new one.',
  ],
} as const

export default async function InvitationPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params
  const [invitation, user] = await Promise.all([
    lookUpInvitation({ db: database().db, now }, token),
    readSession(await headers()),
  ])
  if (invitation.state === 'unknown') notFound()
  if (invitation.state !== 'open') {
    const [title, text] = CLOSED[invitation.state]
    return (
      <>
        <h1 className={styles.title}>{title}</h1>
        <p className={styles.lead}>{text}</p>
        <p className={styles.foot}>
          <Link href="/">{user ? 'Go to your workspaces' : 'Sign in'}</Link>
        </p>
      </>
    )
  }
  const { workspace, invitedBy, role, email, known, needsPassword } = invitation
  return (
    <>
      <h1 className={styles.title}>Join {workspace}</h1>
      <p className={styles.lead}>{invitedBy ? `${invitedBy} invited you.` : 'You are invited.'}</p>
      <dl className={styles.facts}>
        <dt>Role</dt>
        <dd>{roleName(role)}</dd>
        <dt>For</dt>
        <dd>
          <Email of={email} />
        </dd>
      </dl>
      <AcceptForm
        token={token}
        email={email}
        known={known}
        needsPassword={needsPassword}
        signedInAs={user?.email ?? null}
        providers={identityProviderNames()}
      />
    </>
  )
}

/** Breaks the line before the domain, not within a word. */
function Email({ of }: { of: string }) {
  const at = of.lastIndexOf('@')
  return (
    <>
      {of.slice(0, at)}
      <wbr />
      {of.slice(at)}
    </>
  )
}
