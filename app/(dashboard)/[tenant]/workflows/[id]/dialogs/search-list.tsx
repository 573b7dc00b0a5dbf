'use client'
import { TextInput } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import styles from './search-list.module.css'

export interface SearchItem {
  id: string
  /** The text to search and to announce. */
  text: string
  body: ReactNode
  /** Why it cannot be chosen. */
  refused?: string | null
}

/** A list to search by typing; arrows move, Enter chooses. */
export function SearchList(props: {
  label: string
  items: readonly SearchItem[]
  onChoose: (id: string) => void
  onRefused: (reason: string) => void
  empty: string
}) {
  const { label, items, onChoose, onRefused, empty } = props
  const [search, setSearch] = useState('')
  const [marked, setMarked] = useState(0)
  const id = useId()
  const found = items.filter((item) => item.text.toLowerCase().includes(search.trim().toLowerCase()))
  const index = Math.min(marked, found.length - 1)
  const list = useRef<HTMLDivElement>(null)

  useEffect(() => {
    list.current?.children[index]?.scrollIntoView({ block: 'nearest' })
  }, [index])

  function choose(item: SearchItem | undefined) {
    if (!item) return
    if (item.refused) onRefused(item.refused)
    else onChoose(item.id)
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'ArrowDown') setMarked(Math.min(found.length - 1, index + 1))
    else if (event.key === 'ArrowUp') setMarked(Math.max(0, index - 1))
    else if (event.key === 'Enter') choose(found[index])
    else return
    event.preventDefault()
  }

  return (
    <div>
      <TextInput
        data-autofocus
        aria-label={label}
        placeholder="Type to search"
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={found[index] ? `${id}-${index}` : undefined}
        value={search}
        onChange={(event) => {
          setSearch(event.currentTarget.value)
          setMarked(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={id} role="listbox" aria-label={label} className={styles.list}>
        {found.map((item, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the search field's
          <div
            key={item.id}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === index}
            aria-disabled={item.refused ? true : undefined}
            className={styles.option}
            onMouseMove={() => setMarked(i)}
            onClick={() => choose(item)}
          >
            {item.body}
            {item.refused && <span className={styles.refused}>{item.refused}</span>}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className={styles.none}>{empty}</p>}
    </div>
  )
}
