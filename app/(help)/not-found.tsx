import styles from './help.module.css'

/** For an unknown code. The layout draws the frame. */
export default function NoSuchPage() {
  return (
    <>
      <h1>No such error code</h1>
      <p className={styles.quiet}>
        The address is wrong, or the code is of a newer version. <a href="/errors">All error codes</a>
      </p>
    </>
  )
}
