import type { ReactNode } from 'react'
import styles from './files.module.css'

export function Problem({ children }: { children: ReactNode }) {
  return (
    <p className={styles.note} role="alert">
      {children}
    </p>
  )
}

export function Text({ name, text, cut }: { name: string; text: string; cut: string | null }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.text} tabIndex={0} aria-label={`Content of ${name}`}>
        <pre>{text === '' ? 'The file is empty.' : text}</pre>
      </section>
      {cut !== null && <p className={styles.note}>{cut} Download the file to see all of it.</p>}
    </>
  )
}
