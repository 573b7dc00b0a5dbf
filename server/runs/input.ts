import { checkFields } from '../definition/fields'
import { isFileField, isFileList } from '../definition/file-fields'
import { isJsonObject, type JsonObject, type JsonValue, own, unstorable } from '../definition/json'
import { isInexact, TOO_LARGE_TO_BE_EXACT } from '../definition/long-numbers'
import type { Field, Fields } from '../definition/schema'
import { AppError, type ErrorDetail } from '../errors'
import { FILE_PART, MultipartInput, type Upload, type Uploaded } from '../http/multipart-input'
import { parseJson } from '../http/parse-json'

export type StartBody = JsonObject | MultipartInput<Upload | Uploaded>

/** The ids of a form's files, by the name of their part. */
export type SentFiles = ReadonlyMap<string, readonly string[]>

export const NO_FILES: SentFiles = new Map()

export function idsByPart(files: readonly { id: string; part: string }[]): SentFiles {
  const ids = new Map<string, string[]>()
  for (const { id, part } of files) ids.set(part, [...(ids.get(part) ?? []), id])
  return ids
}

/**
 * The run's initial data, from a start's body. Values may be at the top level or in an object `data`, which takes
 * precedence field by field; if `data` is itself a declared field, it is only that field.
 * @param sent the form's files: that of the part `attachment` is `data.fileId` and the value of every field for files
 * without one, any other that of the field it is named after
 * @throws AppError INVALID_INPUT with one detail per field that is missing or has the wrong type
 */
export function readStartInput(payload: Fields, body: StartBody, sent: SentFiles = NO_FILES): JsonObject {
  const details: ErrorDetail[] = []
  const given = body instanceof MultipartInput ? formValues(payload, body, details) : jsonValues(payload, body)
  const fileId = sent.get(FILE_PART)?.[0] ?? null
  if (fileId !== null && Object.hasOwn(payload, 'fileId') && (Object.hasOwn(given, 'fileId') || sent.has('fileId'))) {
    details.push({ path: 'fileId', message: 'fileId is the id of the attachment and cannot be sent along with it' })
  }
  const filled = filledWith(payload, given, sent, details)
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

function formValues(payload: Fields, { texts }: MultipartInput<Upload | Uploaded>, details: ErrorDetail[]): JsonObject {
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

/** The values with the files of a form, which never replace one. Adds a detail for each file that fits no field. */
export function filledWith(payload: Fields, given: JsonObject, sent: SentFiles, details: ErrorDetail[]): JsonObject {
  if (sent.size === 0) return given
  const values = { ...given, ...namedFiles(payload, given, sent, details) }
  const fileId = sent.get(FILE_PART)?.[0]
  return fileId === undefined ? values : { ...fileFields(payload, values, fileId), ...values }
}

/** The files that are sent under the name of their field. */
function namedFiles(payload: Fields, values: JsonObject, sent: SentFiles, details: ErrorDetail[]): JsonObject {
  const named: JsonObject = {}
  for (const [name, [first, ...others]] of sent) {
    const field = Object.hasOwn(payload, name) ? payload[name] : undefined
    if (name === FILE_PART || first === undefined) continue
    const refuse = (message: string) => details.push({ path: name.slice(0, 100), message })
    if (!field || !isFileField(field))
      refuse(`A file must be sent as the part ${FILE_PART} or that of a field for files.`)
    else if (Object.hasOwn(values, name)) refuse(`${name} was sent more than once`)
    else if (isFileList(field)) named[name] = [first, ...others]
    else if (others.length > 0) refuse(`${name} takes one file`)
    else named[name] = first
  }
  return named
}

/** The file as the value of every field for files that is still empty. */
function fileFields(payload: Fields, values: JsonObject, fileId: string): JsonObject {
  const empty = Object.keys(payload).filter((name) => !Object.hasOwn(values, name))
  const filled: JsonObject = {}
  for (const name of empty) {
    const field = payload[name]
    if (field && isFileList(field)) filled[name] = [fileId]
    else if (name === 'fileId' || field?.type === 'file') filled[name] = fileId
  }
  return filled
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
