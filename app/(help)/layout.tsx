import type { ReactNode } from 'react'
import { Mark } from '@/app/_ui/mark'
import styles from './help.module.css'

/** The frame of pages that anybody may read, signed in or not. */
export default function HelpLayout({ children }: { children: ReactNode }) {
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <a href="/" className={styles.mark}>
          <Mark size={24} />
          Millrace
        </a>
        <nav className={styles.links} aria-label="Help">
          <a href="/errors">Error codes</a>
          <a href="/health">Health</a>
          <a href="/reference">API reference</a>
        </nav>
      </header>
      <main className={styles.main}>{children}</main>
    </div>
  )
}
