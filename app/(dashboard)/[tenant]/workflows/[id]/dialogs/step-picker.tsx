'use client'
import { Kbd, TextInput } from '@mantine/core'
import { Fragment, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Dialog } from '@/app/_ui/dialog'
import type { JsonObject } from '@/server/definition/json'
import type { Catalog, CatalogEntry } from '@/server/steps/catalog'
import { keep, readKept } from '../../../kept'
import { StepIcon } from '../parts/step-icon'
import { type PickerEntry, useOwnEntries } from './own-entries'
import lists from './search-list.module.css'
import styles from './step-picker.module.css'

const GROUPS: Record<CatalogEntry['group'], string> = { people: 'People', work: 'Work', flow: 'Flow', data: 'Data' }
/** Of a group. A search finds the others. */
const MAX_SHOWN = 100
const RECENT = 'millrace-recent-steps'

/** Picks a step type, or a tool, agent or workflow to use in a step: type to search, arrows to move, Enter to add, Shift+Enter to add it unconnected. */
export function StepPicker(props: {
  catalog: Catalog
  /** The name of the step before it; null if it stays unconnected. */
  after: string | null
  /** Chooses that step's exit, if it has several. */
  exit?: ReactNode
  onChoose: (type: string, connected: boolean, config?: JsonObject) => void
  onClose: () => void
}) {
  const { catalog, after, exit, onChoose, onClose } = props
  const [search, setSearch] = useState('')
  const [marked, setMarked] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const own = useOwnEntries(catalog)
  const found = searchEntries(catalog, own, search)
  const index = Math.min(marked, found.length - 1)

  useEffect(() => {
    list.current?.querySelector(`[data-index="${index}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [index])

  function choose(entry: PickerEntry | undefined, connected: boolean) {
    if (!entry) return
    if (!entry.config) remember(entry.type)
    onChoose(entry.type, connected, entry.config)
  }

  function onKeyDown(event: KeyboardEvent) {
    const { key } = event
    if (key === 'ArrowDown') setMarked(Math.min(found.length - 1, index + 1))
    else if (key === 'ArrowUp') setMarked(Math.max(0, index - 1))
    else if (key === 'Enter') choose(found[index], !event.shiftKey)
    else return
    event.preventDefault()
  }

  return (
    <Dialog onClose={onClose} title={after === null ? 'Add step' : `Add step after “${after}”`} top>
      {exit && <div className={styles.exit}>{exit}</div>}
      <TextInput
        data-autofocus
        aria-label="Search step types"
        placeholder="Search step types, tools, agents and workflows"
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
      <div ref={list} id={id} role="listbox" aria-label="Step types" className={lists.list}>
        {found.map((entry, i) => (
          <Fragment key={entry.key}>
            {entry.group !== found[i - 1]?.group && (
              <div role="presentation" className={styles.heading}>
                {entry.group}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the search field's */}
            <div
              id={`${id}-${i}`}
              data-index={i}
              role="option"
              tabIndex={-1}
              aria-selected={i === index}
              className={styles.option}
              onMouseMove={() => setMarked(i)}
              onClick={(event) => choose(entry, !event.shiftKey)}
            >
              <span className={styles.icon}>
                <StepIcon name={entry.icon} size={18} />
              </span>
              <span className={styles.words}>
                <span className={styles.title}>{entry.title}</span>
                <span className={styles.text}>{entry.description}</span>
              </span>
            </div>
          </Fragment>
        ))}
      </div>
      {found.length === 0 && <p className={styles.none}>Nothing matches.</p>}
      {after !== null && (
        <p className={`${styles.hint} with-keyboard`}>
          <Kbd size="xs">Enter</Kbd> adds and connects the step, <Kbd size="xs">Shift</Kbd> <Kbd size="xs">Enter</Kbd>{' '}
          only adds it.
        </p>
      )}
    </Dialog>
  )
}

/**
 * The matching entries by group, recently used step types first in their group. A search puts the group with the best
 * match first: an entry whose title starts with it.
 */
function searchEntries(catalog: Catalog, own: readonly PickerEntry[], search: string): PickerEntry[] {
  const entries = [...catalog.steps.map(entryOfType), ...own]
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const recent = recentTypes()
  const begins = ({ title, type, config }: PickerEntry) =>
    words[0] !== undefined && (title.toLowerCase().startsWith(words[0]) || (!config && type.startsWith(words[0])))
  const rank = (entry: PickerEntry) => {
    const at = recent.indexOf(entry.key)
    return (begins(entry) ? 0 : 100) + (at === -1 ? recent.length : at)
  }
  const found = entries.filter((entry) => {
    const text = `${entry.title} ${entry.config ? '' : entry.type} ${entry.description} ${entry.group}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const groups = [...new Set([...Object.values(GROUPS), ...own.map(({ group }) => group)])]
  const best = (group: string) => (found.some((entry) => entry.group === group && begins(entry)) ? 0 : groups.length)
  const place = (group: string) => groups.indexOf(group) + best(group)
  const sorted = found.toSorted((a, b) => place(a.group) - place(b.group) || rank(a) - rank(b))
  const shown = new Map<string, number>()
  return sorted.filter(({ group }) => {
    const count = shown.get(group) ?? 0
    shown.set(group, count + 1)
    return count < MAX_SHOWN
  })
}

function entryOfType({ type, title, description, icon, group }: CatalogEntry): PickerEntry {
  return { key: type, type, title, description, icon, group: GROUPS[group] }
}

function recentTypes(): string[] {
  return (readKept(RECENT) ?? '').split(' ').filter(Boolean)
}

function remember(type: string): void {
  const next = [type, ...recentTypes().filter((known) => known !== type)].slice(0, 3)
  keep(RECENT, next.join(' '))
}
