import Link from 'next/link'
import type { ReactNode } from 'react'
import { Mark } from '@/app/_ui/mark'
import styles from './layout.module.css'

/** Around the pages of somebody who is not in a workspace yet: one card in the middle, the way to the documents below. */
export default function EntranceLayout({ children }: { children: ReactNode }) {
  return (
    <div className={styles.page}>
      <main className={styles.main}>
        <Link href="/" className={styles.mark} prefetch={false}>
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
