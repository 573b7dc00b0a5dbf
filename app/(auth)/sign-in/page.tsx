import type { Metadata } from 'next'
import { headers } from 'next/headers'
import { redirect } from 'next/navigation'
import { Link } from '@/app/_ui/link'
import { identityProviderNames, readSession } from '@/server/auth/session'
import { database } from '@/server/database'
import { hasOwner } from '@/server/tenants/setup/state'
import { nextPath } from '../next-path'
import styles from '../words.module.css'
import { SignInForm } from './sign-in-form'

export const metadata: Metadata = { title: 'Sign in' }

type Search = Partial<Record<'next' | 'callbackUrl' | 'error', string | string[]>>

export default async function SignInPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams
  const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)
  const next = nextPath(one(search.next) ?? one(search.callbackUrl))
  if (await readSession(await headers())) redirect(next)
  const providers = identityProviderNames()
  return (
    <>
      <h1 className={styles.title}>Sign in</h1>
      <SignInForm next={next} error={one(search.error) ?? null} providers={providers} />
      {providers.length > 0 && (
        <p className={styles.foot}>
          Forgot your password? Sign in with {providers.map(({ name }) => name).join(' or ')}, if your account there has
          the same address.
        </p>
      )}
      <p className={styles.foot}>
        {(await hasOwner(database().db)) ? (
          'No account yet? Ask an admin of your workspace for an invitation.'
        ) : (
          <>
            This service has no owner yet. <Link href="/setup">Set it up</Link>
          </>
        )}
      </p>
    </>
  )
}
