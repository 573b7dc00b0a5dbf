'use client'
import type { ReactNode } from 'react'
import { durationText } from '@/app/_ui/time-text'
import styles from './insights.module.css'

export const orNone = (ms: number | null) => (ms === null ? '–' : durationText(ms))
/** The usual technical names. */
export const P50 = 'p50, the median'
export const P95 = 'p95'
export const count = (value: number) => value.toLocaleString('en')

export function Tile(props: { label: string; value: string; note?: ReactNode; bad?: boolean; hint?: string }) {
  const { label, value, note, bad = false, hint } = props
  return (
    <div className={styles.tile}>
      <dt title={hint}>{label}</dt>
      <dd className={bad ? styles.bad : undefined}>{value}</dd>
      {note && <dd className={styles.tileNote}>{note}</dd>}
    </div>
  )
}

export function Card(props: { title: string; id?: string; actions?: ReactNode; children: ReactNode }) {
  const { title, id, actions, children } = props
  return (
    <section className={styles.card} aria-label={title} id={id}>
      <div className={styles.cardHead}>
        <h2 className={styles.cardTitle}>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  )
}

export function Chart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles.chart}>
      <h3 className={styles.chartTitle}>{title}</h3>
      {children}
    </div>
  )
}

/** Scrolls sideways on a phone, also by keyboard. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without a link inside, nothing else could be focused to scroll it
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}

/** Where a phone has no room for another column. */
export function Most({ within }: { within: number | null }) {
  return within === null ? null : <span className={styles.more}>95%: {durationText(within)}</span>
}

/** A value with a bar, scaled to the highest value. */
export function Bar({ value, most, text }: { value: number | null; most: number; text: (value: number) => string }) {
  if (value === null) return '–'
  return (
    <span className={styles.bar}>
      {/* First, so that it aligns with the row's other figures. */}
      <span>{text(value)}</span>
      <span
        className={styles.fill}
        style={{ width: `${Math.max(2, (value / Math.max(Number.MIN_VALUE, most)) * 100)}%` }}
        aria-hidden
      />
    </span>
  )
}
