'use client'
import { Button, Code } from '@mantine/core'
import { tryAgain } from './_ui/network'
import { useRecovery } from './_ui/use-recovery'
import EntranceLayout from './(auth)/layout'
import styles from './(auth)/words.module.css'

/** Shown when a page outside the workspaces fails to render. */
export default function PageError({ error, retry }: { error: Error & { digest?: string }; retry: () => void }) {
  const waiting = useRecovery(error, retry)
  return (
    <EntranceLayout>
      <div role={waiting ? 'status' : 'alert'}>
        <h1 className={styles.title}>{waiting ? 'No network connection' : 'This page could not be shown'}</h1>
        <p className={styles.lead}>
          {waiting ? 'This page appears when the connection is back.' : 'Something went wrong on our side.'}
          {error.digest && (
            <>
              {' '}
              To find it in the log, search for <Code>{error.digest}</Code>.
            </>
          )}
        </p>
        <Button mt="lg" fullWidth onClick={waiting ? tryAgain : retry}>
          Try again
        </Button>
      </div>
    </EntranceLayout>
  )
}
