import { Markdown } from '@/app/_ui/markdown'
import type { PauseSignal } from '@/server/definition/run'
import styles from './question.module.css'
import { ShownCard } from './shown-card'

export function Question({ signal: { message, show } }: { signal: PauseSignal }) {
  if (!message && !show) return null
  return (
    <div className={styles.question}>
      {message && <Markdown text={message} />}
      {show && (
        <div className={styles.card}>
          <ShownCard show={show} />
        </div>
      )}
    </div>
  )
}
