import { Markdown } from '@/app/_ui/markdown'
import type { PauseSignal } from '@/server/definition/run'
import styles from './question.module.css'
import { ShownCard } from './shown-card'

/** @param props.beside the card, if it is shown elsewhere */
export function Question({ signal: { message, show }, beside = show }: { signal: PauseSignal; beside?: unknown }) {
  if (!message && !show) return null
  return (
    <div className={styles.question}>
      {message && <Markdown text={message} beside={beside} />}
      {show && (
        <div className={styles.card}>
          <ShownCard show={show} />
        </div>
      )}
    </div>
  )
}
