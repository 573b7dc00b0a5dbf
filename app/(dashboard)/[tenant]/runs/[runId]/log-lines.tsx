import type { LoggedLine } from '@/server/definition/run'
import styles from './log-lines.module.css'

/** Console output of scripts. */
export function LogLines({ lines, label }: { lines: readonly LoggedLine[]; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className={styles.log} aria-label={label} tabIndex={0}>
      <ol>
        {lines.map(({ level, text, tool, truncated }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines never move
          <li key={at} data-level={level}>
            {(level === 'warn' || level === 'error') && <strong>{level === 'warn' ? 'Warning' : 'Error'}: </strong>}
            {tool !== undefined && <span className={styles.tool}>{tool}: </span>}
            {text}
            {truncated && <span className={styles.tool}> … the rest was not kept</span>}
          </li>
        ))}
      </ol>
    </section>
  )
}
