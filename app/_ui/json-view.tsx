'use client'
import { useState } from 'react'
import { isFileReference } from '@/server/definition/file-ids'
import { FileValue } from './files/file-value'
import styles from './json-view.module.css'

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** How many entries of an object or list are rendered before "Show more". */
const PAGE = 100

/** A value as a tree. Deeper levels are collapsed, so that only open parts of a large value are rendered. */
export function JsonView({ value, label, openDepth = 2 }: { value: unknown; label: string; openDepth?: number }) {
  return (
    <section className={styles.view} aria-label={label}>
      <Node value={value as Json} depth={0} openDepth={openDepth} />
    </section>
  )
}

function Node({
  name,
  value,
  depth,
  openDepth,
}: {
  name?: string | undefined
  value: Json
  depth: number
  openDepth: number
}) {
  const [open, setOpen] = useState(depth < openDepth)
  const [shown, setShown] = useState(PAGE)
  if (value === null || typeof value !== 'object') {
    return (
      <div className={styles.leaf}>
        <Name name={name} />
        <Leaf value={value} />
      </div>
    )
  }
  const entries = Array.isArray(value)
    ? value.map((item, index) => [String(index), item] as const)
    : Object.entries(value)
  const [left, right] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) {
    return (
      <div className={styles.leaf}>
        <Name name={name} />
        <span className={styles.quiet}>
          {left}
          {right}
        </span>
      </div>
    )
  }
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles.summary}>
        <Name name={name} />
        <span className={styles.quiet}>
          {Array.isArray(value)
            ? `${entries.length} ${entries.length === 1 ? 'item' : 'items'}`
            : `${entries.length} ${entries.length === 1 ? 'field' : 'fields'}`}
        </span>
      </summary>
      {open && (
        <div className={styles.children}>
          {entries.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={key} value={item} depth={depth + 1} openDepth={openDepth} />
          ))}
          {entries.length > shown && (
            <button type="button" className={styles.more} onClick={() => setShown(shown + PAGE * 5)}>
              Show more ({entries.length - shown} left)
            </button>
          )}
        </div>
      )}
    </details>
  )
}

function Name({ name }: { name: string | undefined }) {
  return name === undefined ? null : <span className={styles.name}>{name}: </span>
}

function Leaf({ value }: { value: string | number | boolean | null }) {
  if (typeof value === 'string') {
    return (
      <>
        <span className={styles.string}>"{value}"</span>
        {isFileReference(value) && <FileValue id={value}>{null}</FileValue>}
      </>
    )
  }
  return <span className={styles.atom}>{String(value)}</span>
}
