'use client'
import { createContext, type ReactNode, type RefObject, use, useMemo, useRef } from 'react'
import type { JsonValue } from '@/server/definition/json'
import type { ScopeEntry as CheckedEntry } from '@/server/workflows/check/scope'
import type { ShownValues } from '../model/shown-values'

export interface ScopeEntry extends CheckedEntry {
  /** The value's JSON in the shown run, cut short; null without one. */
  last: string | null
  /** Whether it repeats a value under its step's id, which has another name too. Lists leave it out. */
  repeats?: boolean
}

/** A field that can insert a name chosen elsewhere on the screen. */
export interface InsertTarget {
  insert(name: string): void
}

interface Scope {
  entries: ScopeEntry[]
  /** The only values of some of them. */
  choices?: ReadonlyMap<string, readonly JsonValue[]> | undefined
  /** The values to fill in expressions with; null before they are read or without any, undefined where none are shown. */
  values: ShownValues | null | undefined
  /** The names of START and of the other steps, which a new name should not repeat. */
  taken: ReadonlySet<string>
  /** Whether an earlier step can add fields of any name. */
  open: boolean
  /** A step's display name. */
  labelOf: (stepId: string) => string
  /** The last used field. */
  target: RefObject<InsertTarget | null>
}

const NONE: ReadonlySet<string> = new Set()
const Context = createContext<Scope | null>(null)

/** The values that `${…}` can refer to in the step being edited. */
export function ScopeProvider(props: {
  entries: ScopeEntry[]
  open: boolean
  labelOf: (stepId: string) => string
  choices?: Scope['choices']
  values?: ShownValues | null
  taken?: ReadonlySet<string>
  children: ReactNode
}) {
  const { entries, open, labelOf, choices, values, taken = NONE, children } = props
  const target = useRef<InsertTarget | null>(null)
  const value = useMemo(
    () => ({ entries, open, labelOf, choices, values, taken, target }),
    [entries, open, labelOf, choices, values, taken],
  )
  return <Context value={value}>{children}</Context>
}

export function useScope(): Scope {
  const scope = use(Context)
  if (!scope) throw new Error('[scope-context] used outside a step')
  return scope
}
