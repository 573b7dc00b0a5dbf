'use client'
import { useSyncExternalStore } from 'react'
import { CopyButton } from '@/app/_ui/copy-button'
import styles from './inbound.module.css'

/**
 * The sender's target URL with a copy button. Shortened on screen: it fits on a line, and knowing it may allow starting
 * runs.
 */
export function Address({ path }: { path: string }) {
  // The server knows its origin only from PUBLIC_URL.
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

/** The end of a path with its token's middle removed. */
function shortPath(path: string): string {
  const start = path.lastIndexOf('/') + 5
  return path.length > start + 5 ? `${path.slice(0, start)}…${path.slice(-4)}` : path
}

const never = () => () => {}
const nothing = () => ''
