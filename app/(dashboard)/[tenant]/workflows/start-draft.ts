import { type JsonObject, own } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'
import { readObject } from '../_versioned/json'
import { type ChosenFile, firstTyped, isChosen, readChanged, readTyped, type Typed } from './start-values'

/** The state of a form of START fields: its inputs' entries or, if the user chose that, all of it as JSON. */
export interface StartDraft {
  typed: Typed
  json: string | null
}

/**
 * A form's initial state.
 * @param before the fields' existing values; null for the defaults. Shown as JSON if inputs cannot show all of it, such
 * as the value of a field that START no longer has
 */
export function firstDraft(fields: Fields, before: JsonObject | null): StartDraft {
  const json = before === null || fits(fields, before) ? null : jsonText(before)
  return { typed: firstTyped(fields, before ?? {}), json }
}

/**
 * The values of a draft, or its problems: by field, or of its JSON.
 * @param limit as `readTyped`
 */
export function readDraft(
  fields: Fields,
  { typed, json }: StartDraft,
  before: JsonObject | null,
  limit: number | null = null,
): { data: JsonObject; errors: Record<string, string>; files: ChosenFile[]; problem: string | null } {
  if (json === null) {
    const read = before === null ? readTyped(fields, typed, limit) : readChanged(fields, typed, before, limit)
    return { ...read, problem: null }
  }
  const data = parsed(json)
  return { data: data ?? {}, errors: {}, files: [], problem: data ? null : 'This must be a JSON object' }
}

/** The same draft as JSON. Unfinished values become text, so that they are not lost. */
export function inJson(fields: Fields, draft: StartDraft, before: JsonObject | null): StartDraft {
  const { data, errors } = readDraft(fields, draft, before)
  const unread = Object.keys(errors).flatMap((name) => {
    const entry = draft.typed[name]
    return typeof entry === 'string' && entry.trim() !== '' ? [[name, entry] as const] : []
  })
  // JSON cannot hold a chosen file: the earlier one stays.
  const files = Object.keys(fields).flatMap((name) => {
    const value = own(before ?? {}, name)
    return isChosen(draft.typed[name]) && value !== undefined ? [[name, value] as const] : []
  })
  return { ...draft, json: jsonText({ ...data, ...Object.fromEntries([...unread, ...files]) }) }
}

/** The same draft as inputs; null if it is no JSON object, or if inputs cannot show everything. */
export function inFields(fields: Fields, { json }: StartDraft): StartDraft | null {
  const data = json === null ? null : parsed(json)
  return data && fits(fields, data) ? { typed: firstTyped(fields, data), json: null } : null
}

function fits(fields: Fields, data: JsonObject): boolean {
  return Object.keys(data).every((name) => Object.hasOwn(fields, name))
}

function parsed(text: string): JsonObject | null {
  return readObject(text.trim() || '{}').value ?? null
}

const jsonText = (value: JsonObject) => JSON.stringify(value, null, 2)
