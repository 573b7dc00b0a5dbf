import { CopyButton } from './copy-button'
import styles from './id-text.module.css'

/** An id, shortened in the middle on screen; the clipboard and screen readers get all of it. */
export function IdText({ id, copy = true }: { id: string; copy?: boolean }) {
  const short = id.length > 18 ? `${id.slice(0, 9)}…${id.slice(-5)}` : id
  return (
    <span className={styles.id}>
      <span className="mono" title={id}>
        {short}
      </span>
      {copy && <CopyButton text={id} label={`Copy ${id}`} />}
    </span>
  )
}
