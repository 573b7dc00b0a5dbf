import { headers } from 'next/headers'
import { redirect } from 'next/navigation'
import { may } from '@/server/auth/policy'
import { findMembership, readSession } from '@/server/auth/session'
import { database } from '@/server/database'

/** Opens the first settings section that the user may see. */
export default async function SettingsPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { tenant } = await params
  const user = await readSession(await headers())
  const membership = user && (await findMembership(database().db, user.userId, tenant))
  const part = membership && may(membership.role, 'key:manage') ? 'api-keys' : 'preferences'
  redirect(`/${tenant}/settings/${part}`)
}
