import type { ReactNode } from 'react'
import { Mark } from '@/app/_ui/mark'
import styles from './layout.module.css'

/** The frame for people who have only a link: the task or the form, and no other navigation. */
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
