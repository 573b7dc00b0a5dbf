import { isJsonObject, type JsonObject, type JsonValue, toStorableJson } from '../definition/json'
import { parseKeepingDigits } from '../definition/long-numbers'
import type { ErrorDetail } from '../errors'
import { checkOutput } from './output-schema'

/** The longest structured answer, in characters, with all surrounding text. */
export const MAX_ANSWER = 1_000_000
/** How many values of a text to try, from its end. */
const MAX_VALUES = 8
/** How often to examine each character, and how many parts of a text to try. */
const PASSES = 3
const MAX_TRIES = 2_000

export type ReadAnswer = { data: JsonObject } | { data: null; details: ErrorDetail[] }

/**
 * Reads an answer as data. Models surround it with prose, code fences and thoughts. Of several objects in a text, the
 * last one that matches the schema counts.
 */
export function readAnswer(text: string, schema: JsonObject): ReadAnswer {
  if (text.length > MAX_ANSWER)
    return unread([{ path: 'data', message: `is longer than ${MAX_ANSWER.toLocaleString('en')} characters` }])
  const values = valuesIn(text)
  let details: ErrorDetail[] | null = null
  for (const data of values.filter(isJsonObject).reverse()) {
    const problems = checkOutput(schema, data)
    if (problems.length === 0) return { data }
    details ??= problems
  }
  return unread(details ?? [{ path: 'data', message: values.length > 0 ? 'must be object' : 'is not JSON' }])
}

const unread = (details: ErrorDetail[]) => ({ data: null, details })

function valuesIn(text: string): JsonValue[] {
  const whole = parsed(text.trim())
  if (whole !== undefined) return [whole]
  const found = partsIn(withoutThoughts(text))
  return found.length > 0 ? found : partsIn(text)
}

/** The model's text after its thoughts. The server may have dropped the tag that begins a thought. */
function withoutThoughts(text: string): string {
  let said: string[] = []
  let from = 0
  let thought = -1
  for (const tag of text.matchAll(/<(\/?)(?:think|thinking|thought|reasoning)>/gi)) {
    if (tag[1] === '') {
      if (thought === -1) thought = tag.index
      continue
    }
    if (thought === -1) said = []
    else said.push(text.slice(from, thought))
    from = tag.index + tag[0].length
    thought = -1
  }
  return [...said, text.slice(from)].join(' ')
}

/** The last complete objects and lists in a text, in order. */
function partsIn(text: string): JsonValue[] {
  const found: JsonValue[] = []
  let looks = text.length * PASSES
  let tries = MAX_TRIES
  for (let at = 0; looks > 0 && tries > 0; tries--) {
    const start = nextOpening(text, at)
    if (start === -1) break
    const end = endOfValue(text, start)
    looks -= (end === -1 ? text.length : end) - start
    const value = end === -1 ? undefined : parsed(text.slice(start, end))
    // A false match, such as braces in prose, may contain a value.
    at = value === undefined ? start + 1 : end
    if (value !== undefined) found.push(value)
    if (found.length > MAX_VALUES) found.shift()
  }
  return found
}

function nextOpening(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === '{' || text[at] === '[') return at
  return -1
}

/** The position after the bracket that closes the one at `start`; -1 if none does. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (quoted) {
      if (char === '\\') at += 1
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    if (depth === 0) return at + 1
  }
  return -1
}

function parsed(text: string): JsonValue | undefined {
  try {
    return toStorableJson(parseKeepingDigits(text))
  } catch {
    return undefined
  }
}
