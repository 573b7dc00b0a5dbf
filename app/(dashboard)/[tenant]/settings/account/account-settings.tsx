'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import styles from '../settings.module.css'
import { LeaveWorkspace } from './leave-workspace'
import { PasswordForm } from './password-form'
import { SessionList } from './session-list'

/** A user's own settings: password, sessions, and leaving the workspace. */
export function AccountSettings() {
  const trpc = useTRPC()
  const account = useQuery(trpc.account.get.queryOptions())
  return (
    <>
      <PageHeader title="Your account" meta={account.data?.email} />
      <PageBody narrow>
        {account.error && <ErrorState error={account.error} onRetry={() => void account.refetch()} />}
        {account.isPending && <Skeleton height={320} radius="md" />}
        {account.data && (
          <>
            <section className={`${styles.section} ${styles.first}`} aria-labelledby="password">
              <h2 id="password">Password</h2>
              {account.data.hasPassword ? (
                <PasswordForm email={account.data.email} />
              ) : (
                <p>You sign in with an identity provider, so there is no password here to change.</p>
              )}
            </section>
            <section className={styles.section} aria-labelledby="sessions">
              <h2 id="sessions">Where you are signed in</h2>
              <SessionList sessions={account.data.sessions} />
            </section>
          </>
        )}
        <section className={styles.section} aria-labelledby="leave">
          <h2 id="leave">Leave this workspace</h2>
          <LeaveWorkspace />
        </section>
      </PageBody>
    </>
  )
}
