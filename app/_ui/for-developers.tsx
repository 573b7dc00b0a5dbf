import type { ReactNode } from 'react'
import styles from './for-developers.module.css'

/** What only those need who call the API: closed until somebody asks for it. */
export function ForDevelopers({ children }: { children: ReactNode }) {
  return (
    <details className={styles.part}>
      <summary>For developers</summary>
      <div className={styles.inside}>{children}</div>
    </details>
  )
}
