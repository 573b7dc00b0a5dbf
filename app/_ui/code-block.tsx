'use client'
import styles from './code-block.module.css'
import { CopyButton } from './copy-button'

/** Text to copy: a command, a snippet or a response. */
export function CodeBlock({ text, label, wrap = false }: { text: string; label: string; wrap?: boolean }) {
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={`${styles.text} ${wrap ? styles.wrap : ''}`} tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <div className={styles.copy}>
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
    </div>
  )
}
