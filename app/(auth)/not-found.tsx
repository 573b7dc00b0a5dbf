import { Link } from '@/app/_ui/link'
import styles from './words.module.css'

/** For short links without a target. The layout draws the frame. */
export default function LinkNotFound() {
  return (
    <>
      <h1 className={styles.title}>Page not found</h1>
      <p className={styles.lead}>The link is wrong, or leads to a workspace you are not a member of.</p>
      <p className={styles.foot}>
        <Link href="/">Go to your workspaces</Link>
      </p>
    </>
  )
}
