'use client'
import { useEffect, useState } from 'react'
import { sameJson } from './json'

interface Kept<T> {
  version: number
  at: string
  value: T
}

interface State<T> {
  /** What the draft began as. */
  base: { value: T; version: number }
  value: T
  /** When the changes that were brought back had been left. */
  recovered: string | null
}

/**
 * Changes to something that is saved in versions. Without changes it follows what is saved; with changes it keeps them,
 * also when somebody else saves meanwhile, and a copy of them in this browser until they are saved or discarded.
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
      // Read above, before this: what was brought back is a change again by the next time.
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
    /** Somebody saved a newer version than the changes began with. */
    behind,
    version: base.version,
    recovered,
    change: (patch: Partial<T>) => setState((now) => ({ ...now, value: { ...now.value, ...patch } })),
    discard: () => {
      window.localStorage.removeItem(key)
      setState({ base: { value: saved, version }, value: saved, recovered: null })
    },
    /** Keeps the changes as those of the version that is saved now; the other one stays in the history. */
    rebase: () => setState((now) => ({ ...now, base: { value: saved, version } })),
    /** What was sent is saved; what was typed meanwhile stays a change. */
    settle: (sent: T, now: { value: T; version: number }) => {
      window.localStorage.removeItem(key)
      setState((old) => ({ base: now, value: old.value === sent ? now.value : old.value, recovered: null }))
    },
  }
}

export type Draft<T extends object> = ReturnType<typeof useDraft<T>>

/** A copy of another release may be of another form. */
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
