'use client'
import { useCallback, useEffect, useState } from 'react'
import { type Draft, type Fields, initialDraft, widgetOf } from './answer-values'

/** Where what is typed for a pause is kept. */
export function storageKeyOf(tenantId: string, runId: string, pauseId: string): string {
  return `millrace-answer:${tenantId}:${runId}:${pauseId}`
}

/**
 * Keeps what was typed for a pause in this browser until it is sent, so that neither a reload nor a switch to another
 * task loses it. Secret fields are not kept.
 */
export function useKeptDraft(key: string, fields: Fields) {
  const [draft, setDraft] = useState<Draft>(() => initialDraft(fields))
  const [kept, setKept] = useState(false)
  useEffect(() => {
    const stored = readStored(key)
    if (!stored) return
    setDraft((now) => ({ ...now, ...stored }))
    setKept(true)
  }, [key])
  const change = useCallback(
    (name: string, text: string) => {
      setDraft((now) => {
        const next = { ...now, [name]: text }
        storeDraft(key, next, fields)
        return next
      })
    },
    [key, fields],
  )
  const forget = useCallback(() => {
    window.localStorage.removeItem(key)
    setKept(false)
  }, [key])
  return { draft, change, forget, kept }
}

function readStored(key: string): Draft | null {
  try {
    const value: unknown = JSON.parse(window.localStorage.getItem(key) ?? 'null')
    if (typeof value !== 'object' || value === null) return null
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    return null
  }
}

/** Keeps a draft, for the form that is shown next. */
export function storeDraft(key: string, draft: Draft, fields: Fields): void {
  const open = Object.entries(draft).filter(([name]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    return field !== undefined && widgetOf(field) !== 'secret'
  })
  try {
    window.localStorage.setItem(key, JSON.stringify(Object.fromEntries(open)))
  } catch {
    // Storage is full or blocked: the text lives only as long as the page.
  }
}
