import Link from 'next/link'
import styles from './back-link.module.css'

/** The way to the list that a screen belongs to, in front of its title. */
export function BackLink({ href, label }: { href: string; label: string }) {
  return (
    <nav aria-label="Breadcrumb" className={styles.back}>
      <Link href={href}>{label}</Link>
      <span aria-hidden>/</span>
    </nav>
  )
}
