import type { JsonObject, JsonValue } from '@/server/definition/json'
import { parseExact } from '@/server/definition/long-numbers'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses JSON, or returns the parser's message. */
export function readJson(text: string): { value: JsonValue } | { problem: string } {
  try {
    return { value: parseExact(text) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'Not valid JSON' }
  }
}
