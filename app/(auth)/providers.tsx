'use client'
import { Button } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { signInWithProvider } from './auth-client'
import styles from './words.module.css'

/** Buttons for the configured identity providers, if any. */
export function Providers({ providers, next }: { providers: { id: string; name: string }[]; next: string }) {
  const mounted = useMounted()
  if (providers.length === 0) return null
  return (
    <>
      <div className={styles.or}>or</div>
      <div className={styles.stack}>
        {providers.map(({ id, name }) => (
          <Button
            key={id}
            variant="default"
            size="md"
            disabled={!mounted}
            onClick={() => void signInWithProvider(id, next)}
          >
            Continue with {name}
          </Button>
        ))}
      </div>
    </>
  )
}
