import { Link } from '@/app/_ui/link'
import styles from '../../words.module.css'

/** For links without an invitation. */
export default function InvitationNotFound() {
  return (
    <>
      <h1 className={styles.title}>This link does not work</h1>
      <p className={styles.lead}>
        It may be incomplete, or a newer link may have replaced it. Ask the person who invited you for a new one.
      </p>
      <p className={styles.foot}>
        <Link href="/">Go to the start</Link>
      </p>
    </>
  )
}
