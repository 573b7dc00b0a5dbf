import styles from './help.module.css'

/** For a code that does not exist. The layout has drawn the frame already. */
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
