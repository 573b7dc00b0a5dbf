import { checkFields } from '../definition/fields'
import { isJsonObject, type JsonObject, type JsonValue, own, unstorable } from '../definition/json'
import { isInexact, TOO_LARGE_TO_BE_EXACT } from '../definition/long-numbers'
import type { Field, Fields } from '../definition/schema'
import { AppError, type ErrorDetail } from '../errors'
import { MultipartInput } from '../http/multipart-input'
import { parseJson } from '../http/parse-json'

export type StartBody = JsonObject | MultipartInput

/**
 * The run's initial data, from a start's body. Values may be at the top level or in an object `data`, which takes
 * precedence field by field; if `data` is itself a declared field, it is only that field.
 * @param fileId id of the form's file, used as `data.fileId` and as the value of every `file` field without one
 * @throws AppError INVALID_INPUT with one detail per field that is missing or has the wrong type
 */
export function readStartInput(payload: Fields, body: StartBody, fileId: string | null = null): JsonObject {
  const details: ErrorDetail[] = []
  const values = body instanceof MultipartInput ? formValues(payload, body, details) : jsonValues(payload, body)
  if (fileId !== null && Object.hasOwn(payload, 'fileId') && Object.hasOwn(values, 'fileId')) {
    details.push({ path: 'fileId', message: 'fileId is the id of the attachment and cannot be sent along with it' })
  }
  const filled = fileId === null ? values : { ...values, ...fileFields(payload, values, fileId) }
  const refused = new Set(details.map(({ path }) => path))
  const checked = checkFields(payload, filled)
  details.push(...checked.details.filter(({ path }) => !refused.has(path)))
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
  return fileId === null ? checked.data : { ...checked.data, fileId }
}

function jsonValues(payload: Fields, body: JsonObject): JsonObject {
  const nested = own(body, 'data')
  return !Object.hasOwn(payload, 'data') && isJsonObject(nested) ? { ...body, ...nested } : body
}

function formValues(payload: Fields, { texts }: MultipartInput, details: ErrorDetail[]): JsonObject {
  const wrapped = Object.hasOwn(payload, 'data') ? {} : wrappedValues(texts.get('data'), details)
  const values: JsonObject = {}
  for (const [name, field] of Object.entries(payload)) {
    const sent = texts.get(name)
    if (sent && !Object.hasOwn(wrapped, name)) {
      attempt(name, details, () => {
        values[name] = fromText(name, field, single(name, sent))
      })
    }
  }
  return { ...values, ...wrapped }
}

/** A form part `data` works like `data` in a JSON body: its values already have types. */
function wrappedValues(sent: readonly string[] | undefined, details: ErrorDetail[]): JsonObject {
  let values: JsonObject = {}
  if (sent) {
    attempt('data', details, () => {
      const value = parseJson(single('data', sent), 'data')
      if (!isJsonObject(value)) throw invalid('data must be a JSON object')
      values = value
    })
  }
  return values
}

/**
 * Converts a text to a value of the field's type.
 * @throws AppError INVALID_INPUT
 */
function fromText(name: string, field: Field, text: string): JsonValue {
  switch (field.type) {
    case 'number':
    case 'integer':
      // JSON's own grammar: no hexadecimal, and an empty text is not zero.
      if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text.trim()) || !Number.isFinite(Number(text))) {
        throw invalid(`${name} must be a number`)
      }
      if (isInexact(text.trim())) throw invalid(`${name} ${TOO_LARGE_TO_BE_EXACT}`)
      return Number(text)
    case 'boolean': {
      const word = text.trim()
      if (word !== 'true' && word !== 'false') throw invalid(`${name} must be true or false`)
      return word === 'true'
    }
    case 'object':
    case 'array':
      return parseJson(text, name)
    default: {
      const problem = unstorable(text)
      if (problem) throw invalid(`${name} ${problem.message}`)
      return text
    }
  }
}

/** The file as the value of every file field that is still empty. */
export function fileFields(payload: Fields, values: JsonObject, fileId: string): JsonObject {
  const empty = Object.keys(payload).filter((name) => !Object.hasOwn(values, name))
  const filled = empty.filter((name) => name === 'fileId' || payload[name]?.type === 'file')
  return Object.fromEntries(filled.map((name) => [name, fileId]))
}

function single(name: string, sent: readonly string[]): string {
  const [text] = sent
  if (text === undefined || sent.length > 1) throw invalid(`${name} was sent more than once`)
  return text
}

function attempt(name: string, details: ErrorDetail[], work: () => void): void {
  try {
    work()
  } catch (err) {
    if (!(err instanceof AppError)) throw err
    details.push(...err.details.map((detail) => ({ ...detail, path: detail.path ? `${name}.${detail.path}` : name })))
  }
}

function invalid(message: string): AppError {
  return new AppError('INVALID_INPUT', { details: [{ message }] })
}
