'use client'
import { useEffect, useRef, useState } from 'react'

/** A row needs its own key, because the user may be typing its name. */
export type Row<T> = T & { key: number }

let nextKey = 1

export function newRow<T>(values: T): Row<T> {
  return { ...values, key: nextKey++ }
}

/**
 * Edits a value as rows. Rows that cannot be stored yet (no name, a duplicate name) stay on screen; a value from
 * elsewhere (undo, a merge) replaces the rows.
 */
export function useRows<T, V>(options: {
  value: V
  read: (value: V) => T[]
  write: (rows: readonly Row<T>[]) => V
  onChange: (value: V) => void
}): { rows: Row<T>[]; setRows: (rows: Row<T>[], options?: { silent: boolean }) => void } {
  const { value, read, write, onChange } = options
  const [rows, show] = useState<Row<T>[]>(() => read(value).map(newRow))
  const lastValue = useRef(JSON.stringify(value))
  const reader = useRef(read)
  reader.current = read

  useEffect(() => {
    const now = JSON.stringify(value)
    if (now === lastValue.current) return
    lastValue.current = now
    show(reader.current(value).map(newRow))
  }, [value])

  /** `silent` if the caller reports the change itself, such as a rename. */
  function setRows(next: Row<T>[], { silent }: { silent: boolean } = { silent: false }) {
    show(next)
    const written = write(next)
    const now = JSON.stringify(written)
    if (now === lastValue.current) return
    lastValue.current = now
    if (!silent) onChange(written)
  }
  return { rows, setRows }
}

/** The list with one item moved up or down. */
export function moved<T>(list: readonly T[], from: number, by: -1 | 1): T[] {
  const to = from + by
  const next = [...list]
  const [item] = next.splice(from, 1)
  if (item === undefined || to < 0 || to >= list.length) return [...list]
  next.splice(to, 0, item)
  return next
}
