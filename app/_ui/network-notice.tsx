'use client'
import { Button } from '@mantine/core'
import { CloudOff } from 'lucide-react'
import { useOffline } from 'next/offline'
import { useSyncExternalStore } from 'react'
import { tryAgain } from './network'
import styles from './part.module.css'
import { waitingDialogs } from './waiting-dialogs'

/** Says that pages and dialogs wait for the network. Everything that is loaded can still be used. */
export function NetworkNotice() {
  const offline = useOffline()
  const dialogs = useSyncExternalStore(waitingDialogs.subscribe, waitingDialogs.isAway, () => false)
  const shown = offline || dialogs
  return (
    <div role="status" aria-live="polite">
      {shown && (
        <div className={styles.floating}>
          <CloudOff size={18} aria-hidden className={styles.icon ?? ''} />
          <p className={styles.text}>
            {dialogs
              ? 'No network connection. The dialog opens when the connection is back.'
              : 'No network connection. Pages open when the connection is back.'}
          </p>
          <Button size="compact-sm" variant="default" onClick={tryAgain}>
            Try again
          </Button>
        </div>
      )}
    </div>
  )
}
