'use client'
import { useEffect, useState } from 'react'
import { sameJson } from './json'

interface Kept<T> {
  version: number
  at: string
  value: T
}

interface State<T> {
  /** What the changes are based on. */
  base: { value: T; version: number }
  value: T
  /** When the recovered changes were made. */
  recovered: string | null
}

/**
 * Edits something that is saved in versions. Without changes, it follows the saved version. With changes, it keeps them
 * even if someone else saves meanwhile, and keeps a copy in this browser until they are saved or discarded.
 * @param key names the copy
 */
export function useDraft<T extends object>(saved: T, version: number, key: string) {
  const [state, setState] = useState<State<T>>({ base: { value: saved, version }, value: saved, recovered: null })
  const { base, value, recovered } = state
  const dirty = !sameJson(value, base.value)
  const behind = dirty && version > base.version
  // Versions only rise: a lower one is an answer from before the save.
  if (!dirty && version > base.version) setState({ base: { value: saved, version }, value: saved, recovered: null })

  useEffect(() => {
    const kept = readCopy<T>(key)
    if (kept)
      setState((now) =>
        sameJson(kept.value, now.value) || !hasKeysOf(now.value, kept.value)
          ? now
          : { ...now, base: { ...now.base, version: kept.version }, value: kept.value, recovered: kept.at },
      )
  }, [key])

  useEffect(() => {
    if (!dirty) {
      // Already read above: from here on the recovered changes count as ordinary changes and are stored again.
      window.localStorage.removeItem(key)
      return
    }
    const timer = setTimeout(() => {
      const kept: Kept<T> = { version: base.version, at: new Date().toISOString(), value }
      window.localStorage.setItem(key, JSON.stringify(kept))
    }, 300)
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('beforeunload', warn)
    }
  }, [dirty, value, base.version, key])

  return {
    value,
    dirty,
    /** Someone saved a newer version than the one the changes are based on. */
    behind,
    version: base.version,
    recovered,
    change: (patch: Partial<T>) => setState((now) => ({ ...now, value: { ...now.value, ...patch } })),
    discard: () => {
      window.localStorage.removeItem(key)
      setState({ base: { value: saved, version }, value: saved, recovered: null })
    },
    /** Rebases the changes onto the newest saved version; the other person's version stays in the history. */
    rebase: () => setState((now) => ({ ...now, base: { value: saved, version } })),
    /** What was sent is now saved; what was typed meanwhile remains a change. */
    settle: (sent: T, now: { value: T; version: number }) => {
      window.localStorage.removeItem(key)
      setState((old) => ({ base: now, value: old.value === sent ? now.value : old.value, recovered: null }))
    },
  }
}

export type Draft<T extends object> = ReturnType<typeof useDraft<T>>

/** A copy made by another release may have a different shape. */
function hasKeysOf(form: object, copy: object): boolean {
  return Object.keys(form).every((name) => Object.hasOwn(copy, name))
}

function readCopy<T>(key: string): Kept<T> | null {
  try {
    const kept = JSON.parse(window.localStorage.getItem(key) ?? 'null') as Kept<T> | null
    return kept && typeof kept.version === 'number' && typeof kept.value === 'object' && kept.value ? kept : null
  } catch {
    return null
  }
}
