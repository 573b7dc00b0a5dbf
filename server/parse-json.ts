import { type JsonValue, unstorable } from './definition/json'
import { AppError } from './errors'

const MAX_DEPTH = 64
const MAX_KEYS = 10_000

/**
 * JSON text from outside, within the limits of a body and without `__proto__` keys.
 * @param what how messages name the text, for example "The body"
 * @throws AppError INVALID_INPUT
 */
export function parseJson(text: string, what: string): JsonValue {
  refuseDeepJson(text, what)
  let value: JsonValue
  try {
    value = JSON.parse(text, dropProto)
  } catch {
    throw invalid(`${what} is not valid JSON.`)
  }
  const problem = unstorable(value)
  if (problem) throw new AppError('INVALID_INPUT', { details: [problem] })
  return value
}

function invalid(message: string): AppError {
  return new AppError('INVALID_INPUT', { details: [{ message }] })
}

/** Depth and size are counted before parsing: later passes over the value recurse. */
function refuseDeepJson(text: string, what: string): void {
  let depth = 0
  let keys = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 92) i++
      else if (char === 34) inString = false
      continue
    }
    if (char === 34) inString = true
    else if (char === 123 || char === 91) {
      if (++depth > MAX_DEPTH) throw invalid(`${what} is nested deeper than ${MAX_DEPTH} levels.`)
    } else if (char === 125 || char === 93) depth--
    else if (char === 58 && ++keys > MAX_KEYS) throw invalid(`${what} has more than ${MAX_KEYS} keys.`)
  }
}

function dropProto(this: unknown, key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}
