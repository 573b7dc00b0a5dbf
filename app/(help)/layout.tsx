import type { ReactNode } from 'react'
import { PublicHeader } from '@/app/_ui/public-header'
import styles from './help.module.css'

/** The frame of public pages. */
export default function HelpLayout({ children }: { children: ReactNode }) {
  return (
    <div className={styles.page}>
      <PublicHeader />
      <main className={styles.main}>{children}</main>
    </div>
  )
}
