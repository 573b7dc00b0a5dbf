import Link from 'next/link'
import EntranceLayout from './(auth)/layout'
import styles from './(auth)/words.module.css'

/** For what is not there, and for what is somebody else's. */
export default function NotFound() {
  return (
    <EntranceLayout>
      <h1 className={styles.title}>Page not found</h1>
      <p className={styles.lead}>The address is unknown, or belongs to a workspace that you are no member of.</p>
      <p className={styles.foot}>
        <Link href="/">To your workspaces</Link>
      </p>
    </EntranceLayout>
  )
}
