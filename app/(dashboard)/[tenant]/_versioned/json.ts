import type { JsonObject } from '@/server/definition/json'
import { parseExact } from '@/server/definition/long-numbers'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses a text as a JSON object, or returns the problem. */
export function readObject(text: string): { value: JsonObject; problem?: never } | { value?: never; problem: string } {
  try {
    const value = parseExact(text)
    return isObject(value) ? { value } : { problem: 'Must be a JSON object: { … }' }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'Not JSON' }
  }
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** Whether two values are the same JSON. The order of keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]))
}
