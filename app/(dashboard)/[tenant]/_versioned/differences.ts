import type { ChangeKind } from '@/server/definition/diff'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { sameJson } from './json'

/** A field of a form that differs between two versions, with the label it has there. */
export type Difference =
  | { as: 'value'; label: string; before: string; now: string }
  | { as: 'text' | 'code'; label: string; before: string; now: string }
  | { as: 'schema'; label: string; side: 'input' | 'output'; before: JsonObject | null; now: JsonObject | null }
  | { as: 'uses'; label: string; rows: UseDifference[] }

/** A tool or an agent that is used, by its name. A side is null where it is not used. */
export interface UseDifference {
  name: string
  kind: ChangeKind
  before: string | null
  now: string | null
}

const NOTHING = 'None'

/** A value in one line. */
export function words(value: unknown, nothing = NOTHING): string {
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0))
    return nothing
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ')
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** Nothing if both sides are the same. */
export function valueRow(label: string, before: unknown, now: unknown, nothing?: string): Difference[] {
  if (sameJson(before, now)) return []
  return [{ as: 'value', label, before: words(before, nothing), now: words(now, nothing) }]
}

export function textRow(label: string, before: string, now: string, as: 'text' | 'code' = 'text'): Difference[] {
  return before === now ? [] : [{ as, label, before, now }]
}

export function schemaRow(
  label: string,
  side: 'input' | 'output',
  before: JsonObject | null,
  now: JsonObject | null,
): Difference[] {
  return sameJson(before, now) ? [] : [{ as: 'schema', label, side, before, now }]
}

/** A use with what differs about it in words. */
export interface Used {
  id: string
  name: string
  words: string
}

export function usesRow(label: string, before: readonly Used[], now: readonly Used[]): Difference[] {
  const [old, used] = [new Map(before.map((one) => [one.id, one])), new Map(now.map((one) => [one.id, one]))]
  const rows = [...used.values(), ...[...old.values()].filter(({ id }) => !used.has(id))].flatMap(
    ({ id, name }): UseDifference[] => {
      const [was, is] = [old.get(id), used.get(id)]
      if (was && is && was.words === is.words) return []
      const kind = !was ? 'added' : is ? 'changed' : 'removed'
      return [{ name, kind, before: was?.words ?? null, now: is?.words ?? null }]
    },
  )
  return rows.length === 0 ? [] : [{ as: 'uses', label, rows }]
}

/** What differs at names that no form has a field for, so that nothing is left out. */
export function otherRows(before: object, now: object, known: readonly string[]): Difference[] {
  const [old, values] = [before as Record<string, JsonValue>, now as Record<string, JsonValue>]
  const names = new Set([...Object.keys(old), ...Object.keys(values)].filter((name) => !known.includes(name)))
  return [...names].flatMap((name) => valueRow(name, old[name], values[name]))
}
