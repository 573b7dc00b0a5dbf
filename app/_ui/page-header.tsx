import type { ReactNode } from 'react'
import { BackLink } from './back-link'
import styles from './page-header.module.css'

/** The header of a screen: back link, title, description and actions. */
export function PageHeader({
  title,
  back,
  meta,
  actions,
}: {
  title: ReactNode
  /** The list this screen belongs to. */
  back?: { href: string; label: string }
  meta?: ReactNode
  actions?: ReactNode
}) {
  return (
    <header className={styles.header}>
      <div className={styles.words}>
        {back && <BackLink {...back} />}
        <h1 className={styles.title}>{title}</h1>
        {meta && <div className={styles.meta}>{meta}</div>}
      </div>
      {actions && <div className={styles.actions}>{actions}</div>}
    </header>
  )
}
