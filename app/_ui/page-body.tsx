import type { ReactNode } from 'react'
import styles from './page-body.module.css'

/** The content below a screen's header. `narrow` is for forms and texts. */
export function PageBody({ children, narrow = false }: { children: ReactNode; narrow?: boolean }) {
  return <div className={`${styles.body} ${narrow ? styles.narrow : ''}`}>{children}</div>
}
