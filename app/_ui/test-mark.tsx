import styles from './test-mark.module.css'

/** Marks test runs and the runs they started. */
export function TestMark() {
  return (
    <span className={styles.mark} title="A test run. It is left out of the inbox and of insights.">
      Test
    </span>
  )
}
