'use client'
import { useEffect, useRef } from 'react'
import { Method } from '@/app/reference/method'
import tones from '@/app/reference/tones.module.css'
import type { Group } from './entries'
import styles from './reference.module.css'

/** The list shows this many entries per group; a search finds the rest. */
export const MAX_SHOWN = 200

export function EntryList(props: {
  groups: readonly Group[]
  chosen: string
  /** The entry marked with J and K. */
  marked: string | null
  search: string
  onOpen: (id: string) => void
}) {
  const { groups, chosen, marked, search, onOpen } = props
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    if (marked !== null) list.current?.querySelector('[data-marked]')?.scrollIntoView({ block: 'nearest' })
  }, [marked])
  return (
    <nav ref={list} className={`${styles.list} ${tones.tones}`} aria-label="Calls">
      <p className="visually-hidden" role="status">
        {search === '' ? '' : `${groups.reduce((sum, { entries }) => sum + entries.length, 0)} found`}
      </p>
      {groups.length === 0 && <p className={styles.quiet}>Nothing has “{search}” in its name or path.</p>}
      {groups.map(({ name, entries }) => (
        <div key={name} className={styles.group}>
          <h2 className={styles.groupName}>{name}</h2>
          <ul>
            {entries.slice(0, MAX_SHOWN).map(({ id, label, method }) => (
              <li key={id}>
                <button
                  type="button"
                  className={styles.entry}
                  aria-current={id === chosen ? 'true' : undefined}
                  data-marked={id === marked ? '' : undefined}
                  onClick={() => onOpen(id)}
                >
                  {method && <Method name={method} />}
                  <span className={styles.entryLabel}>{label}</span>
                </button>
              </li>
            ))}
          </ul>
          {entries.length > MAX_SHOWN && (
            <p className={styles.quiet}>And {entries.length - MAX_SHOWN} more: search for them.</p>
          )}
        </div>
      ))}
    </nav>
  )
}
