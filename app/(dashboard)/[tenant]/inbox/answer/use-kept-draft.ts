'use client'
import { useCallback, useEffect, useState } from 'react'
import { keep, readKept } from '../../kept'
import { type Draft, type Fields, initialDraft, openTexts } from './answer-values'

export function storageKeyOf(tenantId: string, runId: string, pauseId: string): string {
  return `millrace-answer:${tenantId}:${runId}:${pauseId}`
}

/**
 * Stores a pause's draft in this browser until it is sent, so that neither a reload nor a switch to another task loses
 * it. Secret and sensitive fields are not stored.
 */
export function useKeptDraft(key: string, fields: Fields) {
  const [draft, setDraft] = useState<Draft>(() => initialDraft(fields))
  const [kept, setKept] = useState(false)
  useEffect(() => {
    const stored = readStored(key)
    if (!stored) return
    const open = openTexts(fields, stored)
    // Removes such fields stored by an earlier release.
    if (Object.keys(open).length < Object.keys(stored).length) storeDraft(key, open, fields)
    if (Object.keys(open).length === 0) return
    setDraft((now) => ({ ...now, ...open }))
    setKept(true)
  }, [key, fields])
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
    keep(key, null)
    setKept(false)
  }, [key])
  return { draft, change, forget, kept }
}

function readStored(key: string): Draft | null {
  try {
    const value: unknown = JSON.parse(readKept(key) ?? 'null')
    if (typeof value !== 'object' || value === null) return null
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    return null
  }
}

/** Stores a draft for the next form. */
export function storeDraft(key: string, draft: Draft, fields: Fields): void {
  const open = openTexts(fields, draft)
  keep(key, Object.keys(open).length === 0 ? null : JSON.stringify(open))
}
