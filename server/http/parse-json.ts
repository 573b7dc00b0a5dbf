import { type JsonValue, unstorable } from '../definition/json'
import { InexactNumber, parseExact, parseKeepingDigits } from '../definition/long-numbers'
import { AppError } from '../errors'

const MAX_DEPTH = 64

export interface JsonLimits {
  keys: number
  /** Counts every value, including nested ones: each later pass costs time for each of them. */
  values: number
}

export const JSON_LIMITS: JsonLimits = { keys: 10_000, values: 50_000 }

/**
 * Parses JSON text from outside, within the limits for a body, and drops `__proto__` keys.
 * @param what the name of the text in messages, such as "The body"
 * @param foreign whether its sender does not write it for us, so that integers beyond 2^53 become texts; otherwise
 * those that would change are refused
 * @throws AppError INVALID_INPUT
 */
export function parseJson(
  text: string,
  what: string,
  limits = JSON_LIMITS,
  { foreign = false }: { foreign?: boolean } = {},
): JsonValue {
  refuseLargeJson(text, what, limits)
  let value: JsonValue
  try {
    value = foreign ? parseKeepingDigits(text) : parseExact(text)
  } catch (err) {
    if (!(err instanceof InexactNumber)) throw invalid(`${what} is not valid JSON.`)
    throw new AppError('INVALID_INPUT', {
      details: [{ ...(err.path === '' ? {} : { path: err.path }), message: err.reason }],
    })
  }
  dropProto(value)
  const problem = unstorable(value)
  if (problem) throw new AppError('INVALID_INPUT', { details: [problem] })
  return value
}

function invalid(message: string): AppError {
  return new AppError('INVALID_INPUT', { details: [{ message }] })
}

/**
 * Counts depth, keys and values before parsing, because later passes over the value recurse.
 * @throws AppError INVALID_INPUT
 */
export function refuseLargeJson(text: string, what: string, limits = JSON_LIMITS): void {
  let depth = 0
  let keys = 0
  let values = 1
  let inString = false
  /** Only white space since the last opening bracket. */
  let empty = false
  const countValue = () => {
    if (++values > limits.values) throw invalid(`${what} has more than ${limits.values} values.`)
  }
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 92) i++
      else if (char === 34) inString = false
      continue
    }
    if (char <= 32) continue
    const closes = char === 125 || char === 93
    if (empty && !closes) countValue()
    empty = char === 123 || char === 91
    if (char === 34) inString = true
    else if (empty) {
      if (++depth > MAX_DEPTH) throw invalid(`${what} is nested deeper than ${MAX_DEPTH} levels.`)
    } else if (closes) depth--
    else if (char === 44) countValue()
    else if (char === 58 && ++keys > limits.keys) throw invalid(`${what} has more than ${limits.keys} keys.`)
  }
}

/** Not a reviver, which would be called for every value. */
function dropProto(value: JsonValue): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) dropProto(item)
    return
  }
  // In parsed JSON, `__proto__` is an ordinary own property.
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__')
  for (const key in value) dropProto(value[key] as JsonValue)
}
