import styles from './test-mark.module.css'

/** Marks a run that tried out a draft. */
export function TestMark() {
  return (
    <span className={styles.mark} title="A test run of a draft. It is left out of the inbox and of insights.">
      Test
    </span>
  )
}
