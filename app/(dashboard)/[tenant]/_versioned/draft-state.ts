import type { ErrorDetail } from '@/server/errors'
import type { State } from '../_draft/core'
import { sameJson } from './json'
import { mergeForms, valueAt } from './merge-forms'

/** The latest version with the draft beside it. */
export interface Opened<T> {
  version: number
  content: T
  draft: {
    revision: number
    /** The version that the draft contains; the latest without a draft. */
    baseVersion: number
    /** Null if the draft equals the version. */
    content: T | null
    at: string | null
    byName: string | null
    /** Whether this page's user saved it, here or elsewhere. */
    byYou: boolean
    problems: ErrorDetail[]
  }
}

/** The other side's content before and after its changes. */
export interface Step<T> {
  base: T
  theirs: T
}

export interface Conflict<T> {
  opened: Opened<T>
  baseVersion: number
  steps: Step<T>[]
  /** The fields that both sides changed differently. */
  fields: { path: string; theirs: unknown }[]
  /** Who changed them; null for a version that did not come from a draft. */
  by: string | null
}

export interface DraftData<T> {
  value: T
  /** The version that `value` contains. */
  baseVersion: number
  /** The server's last known state. */
  known: Opened<T>
}

export type DraftState<T> = State<DraftData<T>, Conflict<T>>

/** The content of the server's draft, or of its latest version without a draft. */
export function contentOf<T>({ draft, content }: Opened<T>): T {
  return draft.content ?? content
}

/** Whether the page has changes that the server lacks. */
export function isDirty<T>({ value, baseVersion, known }: DraftData<T>): boolean {
  return !sameJson(value, contentOf(known)) || (known.draft.content !== null && baseVersion !== known.draft.baseVersion)
}

/** Whether a version was saved that the server's draft does not contain. */
export function isBehind<T>({ draft, version }: Opened<T>): boolean {
  return draft.content !== null && draft.baseVersion < version
}

/**
 * Joins the server's content with the draft on the page.
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
