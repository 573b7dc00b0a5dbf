import type { Metadata } from 'next'
import { headers } from 'next/headers'
import { redirect } from 'next/navigation'
import { Link } from '@/app/_ui/link'
import { roleName } from '@/app/_ui/role-name'
import { listMemberships, readSession } from '@/server/auth/session'
import { database } from '@/server/database'
import { hasOwner } from '@/server/tenants/setup/state'
import { landing } from './landing'
import { SignOutButton } from './sign-out'
import styles from './words.module.css'

export const metadata: Metadata = { title: 'Workspaces' }

type Search = Partial<Record<'to' | 'workspace', string | string[]>>

/**
 * The entrance: leads to set-up, to sign-in, to the only workspace or the one of `?workspace=`, or offers a choice of
 * workspaces. With `?to=reference`, to their API reference.
 */
export default async function EntrancePage({ searchParams }: { searchParams: Promise<Search> }) {
  const { to, workspace } = await searchParams
  const place = (one: Parameters<typeof landing>[0]) => (to === 'reference' ? `/${one.slug}/reference` : landing(one))
  const { db } = database()
  const user = await readSession(await headers())
  if (!user) redirect((await hasOwner(db)) ? '/sign-in' : '/setup')
  const memberships = await listMemberships(db, user.userId)
  const [first, ...others] = memberships
  const named = memberships.find(({ slug }) => slug === workspace) ?? (others.length === 0 ? first : undefined)
  if (named) redirect(place(named))
  return (
    <>
      <h1 className={styles.title}>{first ? 'Choose a workspace' : 'No workspace yet'}</h1>
      <p className={styles.lead}>
        {first
          ? `Signed in as ${user.email}.`
          : `You are signed in as ${user.email}, but you are not a member of any workspace. Open your invitation, or ask for one.`}
      </p>
      {first && (
        <ul className={styles.list}>
          {memberships.map(({ slug, tenantName, role }) => (
            <li key={slug}>
              <Link href={place({ slug, role })} className={styles.choice}>
                <span className={styles.choiceName}>{tenantName}</span>
                <span className={styles.choiceHint}>{roleName(role)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <div className={styles.form}>
        <SignOutButton />
      </div>
    </>
  )
}
