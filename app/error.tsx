'use client'
import { Button, Code } from '@mantine/core'
import EntranceLayout from './(auth)/layout'
import styles from './(auth)/words.module.css'

/** A page outside of the workspaces that could not be drawn. */
export default function PageError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <EntranceLayout>
      <div role="alert">
        <h1 className={styles.title}>This page could not be shown</h1>
        <p className={styles.lead}>
          The fault is ours.
          {error.digest && (
            <>
              {' '}
              Its mark in the log is <Code>{error.digest}</Code>.
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
