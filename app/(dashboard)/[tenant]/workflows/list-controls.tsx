'use client'
import { CloseButton, Kbd, NativeSelect, SegmentedControl, TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { type Ref, useCallback, useEffect, useRef, useState } from 'react'
import { useUrlState } from '@/app/_ui/use-url-state'
import styles from './list.module.css'

const STATES = [
  { value: '', label: 'Not archived' },
  { value: 'published', label: 'Published' },
  { value: 'draft', label: 'Drafts' },
  { value: 'archived', label: 'Archived' },
]
const WAIT_MS = 250

/** The list's filters and sort order, all stored in the URL. */
export function ListControls({ ref }: { ref: Ref<HTMLInputElement> }) {
  const { get, set } = useUrlState()
  const asked = get('q')
  const [text, setText] = useState(asked)
  const sent = useRef(asked)
  // Back and Clear change the URL; typing does not wait for it.
  useEffect(() => {
    if (asked !== sent.current) setText(asked)
    sent.current = asked
  }, [asked])
  const send = useCallback(() => {
    if (text === sent.current) return
    sent.current = text
    set({ q: text, page: null })
  }, [text, set])
  useEffect(() => {
    const timer = setTimeout(send, WAIT_MS)
    return () => clearTimeout(timer)
  }, [send])
  return (
    <search className={styles.controls}>
      <TextInput
        ref={ref}
        className={styles.search ?? ''}
        type="text"
        aria-label="Search workflows"
        placeholder="Search by name or id"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        // Next drops a navigation during which the URL changes, so write it first.
        onBlur={send}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          if (text) setText('')
          else event.currentTarget.blur()
        }}
        leftSection={<Search size={16} aria-hidden />}
        rightSection={
          text ? (
            <CloseButton size="sm" aria-label="Clear the search" onClick={() => setText('')} />
          ) : (
            <Kbd size="xs" className="with-keyboard">
              /
            </Kbd>
          )
        }
      />
      <SegmentedControl
        aria-label="Status"
        data={STATES}
        value={STATES.some(({ value }) => value === get('status')) ? get('status') : ''}
        onChange={(status) => set({ status, page: null })}
      />
      <NativeSelect
        className={styles.end ?? ''}
        aria-label="Order"
        data={[
          { value: '', label: 'Last changed first' },
          { value: 'name', label: 'By name' },
        ]}
        value={get('sort') === 'name' ? 'name' : ''}
        onChange={(event) => set({ sort: event.currentTarget.value, page: null })}
      />
    </search>
  )
}
