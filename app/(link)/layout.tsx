import type { ReactNode } from 'react'
import { Mark } from '@/app/_ui/mark'
import styles from './layout.module.css'

/** The frame of a page for people who have nothing but a link: what it asks, and nowhere else to go. */
export default function LinkLayout({ children }: { children: ReactNode }) {
  return (
    <div className={styles.page}>
      <main className={styles.main}>{children}</main>
      <footer className={styles.footer}>
        <Mark size={16} />
        Millrace
      </footer>
    </div>
  )
}
