import { type JsonObject, type JsonValue, own } from '@/server/definition/json'
import type { Field, Fields } from '@/server/definition/schema'
import { readObject, sameJson } from '../../_versioned/json'
import { inJson, readDraft, type StartDraft } from '../../workflows/start-draft'
import { firstTyped } from '../../workflows/start-values'

/**
 * The run data's fields for a form: existing values can be replaced but not removed, and have no default to fall back
 * on.
 */
export function editable(fields: Fields, before: JsonObject): Fields {
  const of = ({ default: _, ...field }: Field, given: boolean): Field => ({ ...field, required: given })
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, of(field, Object.hasOwn(before, name))]),
  )
}

/** The draft's changes, or its problems. Its JSON has only the changes. */
export function readChanges(fields: Fields, draft: StartDraft, before: JsonObject) {
  const { data, ...wrong } = readDraft(fields, draft, before)
  return { changes: draft.json === null ? changesOf(data, before) : data, ...wrong }
}

/** The fields' changes as JSON. Unfinished values become text, so that they are not lost. */
export function changesInJson(fields: Fields, draft: StartDraft, before: JsonObject): StartDraft {
  const all = readObject(inJson(fields, draft, before).json ?? '').value ?? {}
  return { ...draft, json: JSON.stringify(changesOf(all, before), null, 2) }
}

/** The data with the JSON's changes as fields; null if it is no JSON object or has names without a field. */
export function changesInFields(fields: Fields, { json }: StartDraft, before: JsonObject): StartDraft | null {
  const changes = readObject(json?.trim() || '{}').value
  if (!changes || !Object.keys(changes).every((name) => Object.hasOwn(fields, name))) return null
  return { typed: firstTyped(fields, { ...before, ...changes }), json: null }
}

function changesOf(data: JsonObject, before: JsonObject): JsonObject {
  const changed = ([name, value]: [string, JsonValue]) => !sameJson(value, own(before, name))
  return Object.fromEntries(Object.entries(data).filter(changed))
}
