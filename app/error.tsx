'use client'
import { Button, Code } from '@mantine/core'
import EntranceLayout from './(auth)/layout'
import styles from './(auth)/words.module.css'

/** Shown when a page outside the workspaces fails to render. */
export default function PageError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <EntranceLayout>
      <div role="alert">
        <h1 className={styles.title}>This page could not be shown</h1>
        <p className={styles.lead}>
          Something went wrong on our side.
          {error.digest && (
            <>
              {' '}
              To find it in the log, search for <Code>{error.digest}</Code>.
            </>
          )}
        </p>
        <Button mt="lg" fullWidth onClick={reset}>
          Try again
        </Button>
      </div>
    </EntranceLayout>
  )
}
