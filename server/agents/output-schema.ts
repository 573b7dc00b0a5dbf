import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { RE2JS } from 're2js'
import { AppError, type ErrorDetail } from '../errors'
import type { JsonObject, JsonValue } from '../json'

const MAX_CACHED = 200
const MAX_BYTES = 100_000
const cache = new Map<string, ValidateFunction>()

/** The patterns of a schema are a user's, so they run on an engine that cannot be made to hang. */
const regExp = Object.assign(
  (source: string) => {
    const pattern = RE2JS.compile(source)
    return { test: (text: string) => pattern.matcher(text).find() }
  },
  { code: 're2' },
)

/**
 * What is wrong with an answer, one entry for each fault; empty when it fits.
 * @throws AppError INVALID_INPUT when the schema itself is none
 */
export function checkOutput(schema: JsonObject, value: JsonValue): ErrorDetail[] {
  const validate = compile(schema)
  if (validate(value)) return []
  return (validate.errors ?? []).slice(0, 50).map(toDetail)
}

/** @throws AppError INVALID_INPUT when a saved schema could not judge an answer */
export function requireSchema(schema: JsonObject | null): void {
  if (schema === null) return
  if (schema.type !== 'object') throw invalid('outputSchema.type', 'must be "object": an answer is a JSON object')
  if (JSON.stringify(schema).length > MAX_BYTES) throw invalid('outputSchema', `is larger than ${MAX_BYTES} characters`)
  compile(schema)
}

function compile(schema: JsonObject): ValidateFunction {
  const key = JSON.stringify(schema)
  const known = cache.get(key)
  if (known) return known
  // One for each schema: an instance would keep every `$id` it ever saw.
  const ajv = new Ajv({ allErrors: true, strict: false, logger: false, validateFormats: false, code: { regExp } })
  let validate: ValidateFunction
  try {
    const { $schema: _dialect, ...rest } = schema
    validate = ajv.compile(rest)
  } catch (err) {
    throw invalid('outputSchema', `is not a JSON Schema: ${err instanceof Error ? err.message : String(err)}`)
  }
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value ?? '')
  cache.set(key, validate)
  return validate
}

function toDetail({ instancePath, message, params }: ErrorObject): ErrorDetail {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const extra = 'allowedValues' in params ? `: ${JSON.stringify(params.allowedValues).slice(0, 500)}` : ''
  return { path, message: `${message ?? 'does not match the schema'}${extra}` }
}

function invalid(path: string, message: string): AppError {
  return new AppError('INVALID_INPUT', { details: [{ path, message: message.slice(0, 500) }] })
}
