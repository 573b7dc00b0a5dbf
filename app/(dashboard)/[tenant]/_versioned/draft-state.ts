import type { ErrorDetail } from '@/server/errors'
import type { State } from '../_draft/core'
import { sameJson } from './json'
import { mergeForms, valueAt } from './merge-forms'

/** The latest version, and the draft beside it. */
export interface Opened<T> {
  version: number
  content: T
  draft: {
    revision: number
    /** The version that the draft contains; the latest without a draft. */
    baseVersion: number
    /** Null when there is nothing beyond the version. */
    content: T | null
    at: string | null
    byName: string | null
    /** Whether the person at this page saved it, here or elsewhere. */
    byYou: boolean
    problems: ErrorDetail[]
  }
}

/** What the other side began with, and what it made of it. */
export interface Step<T> {
  base: T
  theirs: T
}

export interface Conflict<T> {
  opened: Opened<T>
  baseVersion: number
  steps: Step<T>[]
  /** The fields that both sides changed in different ways. */
  fields: { path: string; theirs: unknown }[]
  /** Who changed them; null when a version did that no draft led to. */
  by: string | null
}

export interface DraftData<T> {
  value: T
  /** The version that `value` contains. */
  baseVersion: number
  /** What the server had last. */
  known: Opened<T>
}

export type DraftState<T> = State<DraftData<T>, Conflict<T>>

/** What the server's draft says, or its latest version when it has none. */
export function contentOf<T>({ draft, content }: Opened<T>): T {
  return draft.content ?? content
}

/** Whether the page has anything that the server does not have. */
export function isDirty<T>({ value, baseVersion, known }: DraftData<T>): boolean {
  return !sameJson(value, contentOf(known)) || (known.draft.content !== null && baseVersion !== known.draft.baseVersion)
}

/** Whether a version was saved that the server's draft does not contain. */
export function isBehind<T>({ draft, version }: Opened<T>): boolean {
  return draft.content !== null && draft.baseVersion < version
}

/**
 * Joins what the server has with the draft on the page.
 * @param side whose fields to take where both sides changed them; without it, they are a conflict
 */
export function joined<T extends object>(
  mine: T,
  opened: Opened<T>,
  { steps, baseVersion }: Pick<Conflict<T>, 'steps' | 'baseVersion'>,
  side?: 'mine' | 'theirs',
): { draft: DraftData<T> } | { conflict: Conflict<T> } {
  let value = mine
  const fields: Conflict<T>['fields'] = []
  for (const { base, theirs } of steps) {
    const merged = mergeForms(base, value, theirs, side)
    fields.push(...merged.conflicts.map((path) => ({ path, theirs: valueAt(theirs, path) })))
    value = merged.value
  }
  if (fields.length === 0 || side) return { draft: { value, baseVersion, known: opened } }
  const by = opened.draft.content === null || isBehind(opened) ? null : opened.draft.byName
  return { conflict: { opened, baseVersion, steps, fields, by } }
}
