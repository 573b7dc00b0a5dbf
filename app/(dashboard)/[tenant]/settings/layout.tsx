import type { ReactNode } from 'react'
import styles from './settings.module.css'
import { SettingsNavigation } from './settings-navigation'
import { SettingsPart } from './settings-part'

export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <div className={styles.settings}>
      <SettingsNavigation />
      <div className={styles.panel}>
        <SettingsPart>{children}</SettingsPart>
      </div>
    </div>
  )
}
