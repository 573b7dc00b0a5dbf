import styles from './test-mark.module.css'

/** Marks a run that tried out a draft. */
export function TestMark() {
  return (
    <span className={styles.mark} title="Tries out a draft. Left out of the inbox and of figures.">
      Test
    </span>
  )
}
