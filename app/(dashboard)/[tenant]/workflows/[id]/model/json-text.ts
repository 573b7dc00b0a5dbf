import type { JsonObject, JsonValue } from '@/server/json'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text as JSON, or what is wrong with it in the parser's words. */
export function readJson(text: string): { value: JsonValue } | { problem: string } {
  try {
    return { value: JSON.parse(text) as JsonValue }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'Not JSON' }
  }
}
