'use client'
import { Button } from '@mantine/core'
import { CloudOff } from 'lucide-react'
import { type ComponentType, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { network, tryAgain } from './network'
import styles from './part.module.css'
import { waitingDialogs } from './waiting-dialogs'

type Import<P> = () => Promise<ComponentType<P>>

/**
 * Loads part of a screen for `dynamic`, with `inPlace` as its `loading`. Without a network, that place says so and the
 * part appears when the network is back; if the code is gone, the place offers to reload the page. The rest of the
 * screen keeps what people typed.
 * @example
 * const Graph = dynamic(() => loadPart(() => import('./graph').then((module) => module.Graph)), {
 *   loading: inPlace(<Skeleton height={420} />),
 * })
 */
export const loadPart = <P,>(load: Import<P>): Promise<ComponentType<P>> => loadOr(PartGone, load)

/** As `loadPart`, for a dialog. Its `loading` is `WaitingDialog`. */
export const loadDialog = <P,>(load: Import<P>): Promise<ComponentType<P>> => loadOr(DialogGone, load)

/** As `loadPart`, for a part that shows nothing that people asked for. Its `loading` is `nothing`. */
export const loadQuiet = <P,>(load: Import<P>): Promise<ComponentType<P>> => loadOr(nothing, load)

async function loadOr<P>(Gone: ComponentType, load: Import<P>): Promise<ComponentType<P>> {
  if (typeof window === 'undefined') return load()
  try {
    return await network.load(load)
  } catch {
    return Gone as ComponentType<P>
  }
}

export const nothing = () => null

/** A part's place while its code loads: its skeleton, or what is wrong. */
export function inPlace(skeleton: ReactNode): () => ReactNode {
  return function Loading() {
    return useAway() ? (
      <div className={styles.part} role="status">
        <CloudOff size={20} aria-hidden className={styles.icon ?? ''} />
        <p className={styles.text}>No network connection. This part appears when the connection is back.</p>
        <Button size="compact-sm" variant="default" onClick={tryAgain}>
          Try again
        </Button>
      </div>
    ) : (
      skeleton
    )
  }
}

const useAway = () => useSyncExternalStore(network.subscribe, network.isAway, () => false)

/** Shows nothing itself: `NetworkNotice` says that a dialog waits. */
export function WaitingDialog() {
  useEffect(waitingDialogs.add, [])
  return null
}

function PartGone() {
  return (
    <div className={styles.part} role="alert">
      <Gone />
    </div>
  )
}

function DialogGone() {
  const [closed, setClosed] = useState(false)
  if (closed) return null
  return (
    <div className={styles.floating} role="alert">
      <Gone />
      <Button size="compact-sm" variant="subtle" color="gray" onClick={() => setClosed(true)}>
        Close
      </Button>
    </div>
  )
}

/** After an update, the code of the version that this page came from may be gone. */
function Gone() {
  return (
    <>
      <p className={styles.text}>This part could not be loaded. Save what you typed, then reload the page.</p>
      <Button size="compact-sm" variant="default" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </>
  )
}
