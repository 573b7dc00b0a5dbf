import type { ReactNode } from 'react'
import styles from './settings.module.css'
import { SettingsNavigation } from './settings-navigation'

export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <div className={styles.settings}>
      <SettingsNavigation />
      <div className={styles.panel}>{children}</div>
    </div>
  )
}
