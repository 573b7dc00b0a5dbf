'use client'
import { useSyncExternalStore } from 'react'
import { CopyButton } from '@/app/_ui/copy-button'
import styles from './inbound.module.css'

/** Where the sender posts to, to copy. Shortened on screen: it fits on a line, and who knows it may be able to start runs. */
export function Address({ path }: { path: string }) {
  // The server knows the address only if PUBLIC_URL does.
  const origin = useSyncExternalStore(never, () => window.location.origin, nothing)
  return (
    <span className={styles.address}>
      <code title={origin + path}>
        <span className={styles.origin}>{origin}</span>
        <wbr />
        {shortPath(path)}
      </code>
      <CopyButton text={origin + path} label="Copy the address" />
    </span>
  )
}

/** The end of a path without the middle of its token. */
function shortPath(path: string): string {
  const start = path.lastIndexOf('/') + 5
  return path.length > start + 5 ? `${path.slice(0, start)}…${path.slice(-4)}` : path
}

const never = () => () => {}
const nothing = () => ''
