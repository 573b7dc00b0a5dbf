'use client'
import { useSyncExternalStore } from 'react'
import { CopyButton } from '@/app/_ui/copy-button'
import styles from './inbound.module.css'

/** Where the sender posts to, to copy. */
export function Address({ path }: { path: string }) {
  // The server knows the address only if PUBLIC_URL does.
  const origin = useSyncExternalStore(never, () => window.location.origin, nothing)
  return (
    <span className={styles.address}>
      <code>{origin + path}</code>
      <CopyButton text={origin + path} label="Copy the address" />
    </span>
  )
}

const never = () => () => {}
const nothing = () => ''
