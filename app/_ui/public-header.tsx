import { Mark } from './mark'
import styles from './public-header.module.css'

export function PublicHeader() {
  return (
    <header className={styles.header}>
      <a href="/" className={styles.home}>
        <Mark size={24} />
        Millrace
      </a>
      <nav className={styles.links} aria-label="Help">
        <a href="/errors">Error codes</a>
        <a href="/health">Health</a>
        <a href="/reference">API reference</a>
      </nav>
    </header>
  )
}
