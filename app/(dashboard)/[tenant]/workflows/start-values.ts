import { MAX_FORM_BYTES } from '@/app/_ui/files/form-limit'
import { limitText } from '@/app/_ui/files/uploads'
import { underField } from '@/app/_ui/sentence'
import { formatOf, limitProblem } from '@/server/definition/field-limits'
import { isRequired } from '@/server/definition/fields'
import { isFileField } from '@/server/definition/file-fields'
import { isJsonObject, type JsonObject, type JsonValue, own } from '@/server/definition/json'
import { InexactNumber, isInexact, parseExact, TOO_LARGE_TO_BE_EXACT } from '@/server/definition/long-numbers'
import type { Field, Fields } from '@/server/definition/schema'
import { HIDDEN } from '@/server/definition/sensitive'

/** A user's entry in a form field: typed text, the state of a switch, or chosen files. */
export type Entry = string | boolean | File | File[]
export type Typed = Record<string, Entry>

/**
 * A form's initial entries: the defaults.
 * @param before values that replace the defaults
 */
export function firstTyped(fields: Fields, before: JsonObject = {}): Typed {
  const usual = ({ default: value }: Field) => value as JsonValue | undefined
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      typedValue(field, Object.hasOwn(before, name) ? own(before, name) : usual(field)),
    ]),
  )
}

/** The entries for these fields, and the defaults of the others. The fields may have changed since. */
export function typedFor(fields: Fields, typed: Typed): Typed {
  const first = firstTyped(fields)
  const fits = ([name, entry]: [string, Entry]) =>
    Object.hasOwn(first, name) &&
    (isChosen(entry) ? fields[name] !== undefined && isFileField(fields[name]) : typeof entry === typeof first[name])
  return { ...first, ...Object.fromEntries(Object.entries(typed).filter(fits)) }
}

function typedValue(field: Field, value: JsonValue | undefined): string | boolean {
  // Preserved for every type: the form explains that the value is hidden.
  if (value === HIDDEN && field.sensitive === true) return HIDDEN
  if (field.type === 'boolean' && !field.options) return value === true
  if (value === undefined) return ''
  if (isPlainText(field) && typeof value === 'string') return value
  return field.options ? JSON.stringify(value) : JSON.stringify(value, null, 2)
}

const MAX_FILES = 20

export function isChosen(entry: Entry | undefined): entry is File | File[] {
  return entry instanceof File || Array.isArray(entry)
}

/** A chosen file, with the name of its field. */
export interface ChosenFile {
  name: string
  file: File
}

/**
 * The part of a form that a field's file is sent as. The file of a START with a single field for one is its attachment,
 * so that programs and steps find it as `fileId` too.
 */
export function partOf(fields: Fields, name: string): string {
  const [only, ...others] = Object.values(fields).filter(isFileField)
  return only?.type === 'file' && others.length === 0 ? 'attachment' : name
}

/** Whether the typed text is the value itself rather than JSON. */
export function isPlainText({ type, options }: Field): boolean {
  return options === undefined && (type === 'string' || type === 'file')
}

/**
 * Converts the form's input to values, or returns the errors. The server checks again.
 * @param limit the largest file that is uploaded before the form; null if files go only with it
 */
export function readTyped(
  fields: Fields,
  typed: Typed,
  limit: number | null = null,
): { data: JsonObject; errors: Record<string, string>; files: ChosenFile[] } {
  const data: JsonObject = {}
  const errors: Record<string, string> = {}
  const files: ChosenFile[] = []
  for (const [name, field] of Object.entries(fields)) {
    const raw = typed[name]
    if (isChosen(raw)) {
      const chosen = [raw].flat()
      files.push(...chosen.map((file) => ({ name, file })))
      if (areTooLarge(files, limit)) errors[name] = tooLargeText(files.length, limit)
      else if (files.length > MAX_FILES) errors[name] = `At most ${MAX_FILES} files in all`
    } else if (typeof raw === 'boolean') data[name] = raw
    else if (raw === undefined || raw.trim() === '') {
      const empty = emptied(field, raw)
      if (empty === 'refused') errors[name] = 'Required'
      else if (empty !== 'absent') data[name] = empty.value
    } else {
      const read = readText(field, raw)
      if ('error' in read) errors[name] = read.error
      else data[name] = read.value
    }
  }
  return { data, errors, files }
}

function readText(field: Field, raw: string): { value: JsonValue } | { error: string } {
  const value = isPlainText(field) ? raw : readJson(field, raw)
  if (value instanceof InexactNumber) return { error: inexactText(field, value) }
  if (value === undefined) return { error: wrongText(field) }
  const problem = limitProblem(field, value)
  if (problem !== null) return { error: underField(problem) }
  return { value: field.type === 'array' ? withoutEmptyEnd(value) : value }
}

/** With a form, the files count together; before it, each counts alone. */
function areTooLarge(files: readonly ChosenFile[], limit: number | null): boolean {
  if (limit !== null) return files.some(({ file }) => file.size > limit)
  return files.reduce((sum, { file }) => sum + file.size, 0) > MAX_FORM_BYTES
}

/** The error of files that are too large. */
export function tooLargeText(count: number, limit: number | null): string {
  const most = limitText(limit)
  if (count === 1) return `The file is too large: at most ${most}`
  return limit === null
    ? `The files are too large: at most ${most} together`
    : `One of the files is too large. Each may have at most ${most}.`
}

/**
 * The meaning of an empty input. The server sets the default of a field that is left out, so emptying a field with a
 * default sends the empty text; a value of another type cannot be empty.
 * @param text undefined if the form never had the field
 */
export function emptied(field: Field, text: string | undefined): { value: '' } | 'absent' | 'refused' {
  if (isRequired(field)) return 'refused'
  if (text === undefined || field.default === undefined || field.type === 'file') return 'absent'
  const format = formatOf(field)
  const takesText = field.type === 'any' || (field.type === 'string' && (format === null || format === 'long-text'))
  return takesText && !field.options ? { value: '' } : 'refused'
}

/** A row that the user added to a list and left empty is no element of it. */
function withoutEmptyEnd(value: JsonValue): JsonValue {
  return Array.isArray(value) ? value.slice(0, value.findLastIndex((element) => element !== '') + 1) : value
}

/**
 * Like `readTyped`, for a form with the initial values `before`. Unchanged values stay exactly the same, even hidden
 * ones, and absent ones stay absent.
 */
export function readChanged(
  fields: Fields,
  typed: Typed,
  before: JsonObject,
  limit: number | null = null,
): { data: JsonObject; errors: Record<string, string>; files: ChosenFile[] } {
  const first = firstTyped(fields, before)
  const stays = (name: string, field: Field) =>
    typed[name] === first[name] && (Object.hasOwn(before, name) || !isRequired(field))
  const names = Object.keys(fields)
  const changed = Object.entries(fields).filter(([name, field]) => !stays(name, field))
  const { data: read, errors, files } = readTyped(Object.fromEntries(changed), typed, limit)
  const data = names.flatMap((name) => {
    const value = own(changed.some(([one]) => one === name) ? read : before, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return { data: Object.fromEntries(data), errors, files }
}

function readJson({ type }: Field, raw: string): JsonValue | InexactNumber | undefined {
  const text = raw.trim()
  if (type === 'number' || type === 'integer') {
    const number = Number(text)
    if (isInexact(text)) return new InexactNumber({ path: '', literal: text })
    return Number.isFinite(number) && (type === 'number' || Number.isInteger(number)) ? number : undefined
  }
  try {
    return parseExact(text)
  } catch (err) {
    if (err instanceof InexactNumber && err.path !== '') return err
    // In a field of type `any`, text that is not JSON counts as text, and so does an id.
    return type === 'any' ? raw : undefined
  }
}

/** The value to show as rows; null if the field has no rows, or its text is not such a value yet. */
export function readRows({ type, options }: Field, text: string): { value: JsonValue | undefined } | null {
  if ((type !== 'object' && type !== 'array') || options) return null
  if (text.trim() === '') return { value: undefined }
  try {
    const value = parseExact(text)
    return (type === 'array' ? Array.isArray(value) : isJsonObject(value)) ? { value } : null
  } catch {
    return null
  }
}

function inexactText({ type }: Field, { message }: InexactNumber): string {
  return type === 'number' || type === 'integer' ? `This ${TOO_LARGE_TO_BE_EXACT}` : message
}

function wrongText({ type }: Field): string {
  if (type === 'integer') return 'This must be a whole number'
  if (type === 'number') return 'This must be a number'
  return 'This must be JSON'
}
