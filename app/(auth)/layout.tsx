import type { ReactNode } from 'react'
import { Link } from '@/app/_ui/link'
import { Mark } from '@/app/_ui/mark'
import styles from './layout.module.css'

/** The frame of pages outside a workspace: a card in the middle, with links to the documentation below. */
export default function EntranceLayout({ children }: { children: ReactNode }) {
  return (
    <div className={styles.page}>
      <main className={styles.main}>
        <Link href="/" className={styles.mark}>
          <Mark size={36} />
          Millrace
        </Link>
        <div className={styles.card}>{children}</div>
      </main>
      <footer className={styles.footer}>
        <a href="/reference">API reference</a>
        <a href="/api/openapi.json">OpenAPI document</a>
      </footer>
    </div>
  )
}
