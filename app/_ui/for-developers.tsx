import type { ReactNode } from 'react'
import styles from './for-developers.module.css'

/** Text that only people who call the API need. It is closed until somebody opens it. */
export function ForDevelopers({ children }: { children: ReactNode }) {
  return (
    <details className={styles.part}>
      <summary>For developers</summary>
      <div className={styles.inside}>{children}</div>
    </details>
  )
}
