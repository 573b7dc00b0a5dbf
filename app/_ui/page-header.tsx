import type { ReactNode } from 'react'
import { BackLink } from './back-link'
import styles from './page-header.module.css'

/** The header of a screen: back link, title, description and actions. */
export function PageHeader({
  title,
  back,
  tabs,
  meta,
  beside,
  actions,
}: {
  title: ReactNode
  /** The list this screen belongs to. */
  back?: { href: string; label: string }
  /** Links to an object's pages, below its title and at the same place on each page. */
  tabs?: ReactNode
  meta?: ReactNode
  /** At the end of the title's line, with reserved space. Only with tabs. */
  beside?: ReactNode
  actions?: ReactNode
}) {
  const heading = (
    <>
      {back && <BackLink {...back} />}
      <h1 className={styles.title}>{title}</h1>
    </>
  )
  const facts = meta && <div className={styles.meta}>{meta}</div>
  return (
    <header className={`${styles.header} ${tabs ? styles.tabbed : ''}`}>
      {tabs ? (
        <div className={styles.lines}>
          <div className={styles.first}>
            {heading}
            {beside !== undefined && <div className={styles.beside}>{beside}</div>}
          </div>
          <div className={styles.words}>
            {tabs}
            {facts}
          </div>
        </div>
      ) : (
        <div className={styles.words}>
          {heading}
          {facts}
        </div>
      )}
      {actions && <div className={styles.actions}>{actions}</div>}
    </header>
  )
}
