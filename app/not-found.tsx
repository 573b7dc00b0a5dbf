import { Link } from '@/app/_ui/link'
import EntranceLayout from './(auth)/layout'
import styles from './(auth)/words.module.css'

/** For pages that do not exist or belong to another user. */
export default function NotFound() {
  return (
    <EntranceLayout>
      <h1 className={styles.title}>Page not found</h1>
      <p className={styles.lead}>The address is wrong, or belongs to a workspace you are not a member of.</p>
      <p className={styles.foot}>
        <Link href="/">Go to your workspaces</Link>
      </p>
    </EntranceLayout>
  )
}
