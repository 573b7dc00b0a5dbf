import type { JsonObject } from '@/server/definition/json'
import { InexactNumber, parseExact } from '@/server/definition/long-numbers'

export type Imported = { body: JsonObject } | { problem: string }

/** Parses an exported workflow. Checks only its outer shape; the server checks its content. */
export function readImport(text: string): Imported {
  if (text.trim() === '') return { problem: 'Paste JSON or choose a file' }
  let value: unknown
  try {
    value = parseExact(text)
  } catch (err) {
    if (err instanceof InexactNumber) return { problem: err.message }
    return { problem: `This is not JSON: ${err instanceof Error ? err.message : 'it cannot be read'}` }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problem: 'A workflow is a JSON object with name, steps and edges' }
  }
  return { body: value as JsonObject }
}
