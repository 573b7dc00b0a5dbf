import { Link } from '@/app/_ui/link'
import styles from './back-link.module.css'

/** A link above a screen's title, back to its list. */
export function BackLink({ href, label }: { href: string; label: string }) {
  return (
    <nav aria-label="Breadcrumb" className={styles.back}>
      <Link href={href}>{label}</Link>
      <span aria-hidden>/</span>
    </nav>
  )
}
