'use client'
import { Notifications } from '@mantine/notifications'
import type { ReactNode } from 'react'
import { Navigation } from './navigation'
import styles from './shell.module.css'

/** What surrounds every screen: a rail of places, or a bar at the foot of a phone. */
export function Shell({ children }: { children: ReactNode }) {
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to the page
      </a>
      <Navigation />
      <main id="main" className={styles.main} tabIndex={-1}>
        {children}
      </main>
      <Notifications position="bottom-right" limit={3} />
    </div>
  )
}
