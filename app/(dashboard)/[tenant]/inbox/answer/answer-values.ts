import { named, underField } from '@/app/_ui/sentence'
import { formatOf, limitProblem } from '@/server/definition/field-limits'
import { isFileField } from '@/server/definition/file-fields'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { InexactNumber, isInexact, parseExact, TOO_LARGE_TO_BE_EXACT } from '@/server/definition/long-numbers'
import type { AskedAction } from '@/server/definition/run'
import type { Field } from '@/server/definition/schema'
import { emptied } from '../../workflows/start-values'

export type Fields = Record<string, Field>

/** The typed text of each field. Text, so that an incomplete number or JSON is not lost. */
export type Draft = Record<string, string>

/**
 * What a browser keeps of a decision during typing, as of a form: the remark, which action's fields are open, and those
 * fields.
 */
export function decisionFields(actions: readonly AskedAction[]): Fields {
  const own = actions.flatMap(({ id, fields = {} }) =>
    Object.entries(fields as unknown as Fields).map(([name, field]) => [keyOfAction(id, name), field] as const),
  )
  return { remark: { type: 'string' }, chosen: { type: 'string' }, ...Object.fromEntries(own) }
}

/** A field of an action in the draft of its decision. No name of a field has a point. */
export function keyOfAction(actionId: string, name: string): string {
  return `${actionId}.${name}`
}

/** The texts of an action's fields, by their names. */
export function draftOfAction(draft: Draft, actionId: string): Draft {
  const own = Object.entries(draft).flatMap(([key, text]) => {
    const name = key.slice(key.lastIndexOf('.') + 1)
    return key === keyOfAction(actionId, name) ? [[name, text] as const] : []
  })
  return Object.fromEntries(own)
}

export type Widget =
  | 'text'
  | 'long-text'
  | 'date'
  | 'email'
  | 'secret'
  | 'number'
  | 'choice'
  | 'yes-no'
  | 'json'
  | 'file'

export function widgetOf(field: Field): Widget {
  if (field.options && field.options.length > 0) return 'choice'
  if (field.secret === true) return 'secret'
  if (isFileField(field)) return 'file'
  switch (field.type) {
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'yes-no'
    case 'object':
    case 'array':
      return 'json'
    default:
      return formatOf(field) ?? 'text'
  }
}

/** The form's initial values: the defaults. */
export function initialDraft(fields: Fields): Draft {
  const defaults = Object.entries(fields).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value as JsonValue] as const],
  )
  return textsOf(fields, Object.fromEntries(defaults))
}

/** Values as their inputs' texts. */
export function textsOf(fields: Fields, data: JsonObject): Draft {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      return field === undefined || value === null ? [] : [[name, fieldText(field, value)]]
    }),
  )
}

/** The texts that a browser may store: none of secret or sensitive fields or of fields missing in the form. */
export function openTexts(fields: Fields, draft: Draft): Draft {
  const isOpen = ([name]: [string, string]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    return field !== undefined && field.secret !== true && field.sensitive !== true
  }
  return Object.fromEntries(Object.entries(draft).filter(isOpen))
}

function fieldText(field: Field, value: JsonValue): string {
  if (widgetOf(field) === 'choice') return JSON.stringify(value)
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

/**
 * Converts the typed texts to values, or returns the errors. Empty fields without a default are not sent: the server
 * reports missing ones.
 */
export function readDraft(fields: Fields, draft: Draft): { data: JsonObject; errors: Record<string, string> } {
  const data: JsonObject = {}
  const errors: Record<string, string> = {}
  for (const [name, field] of Object.entries(fields)) {
    const text = Object.hasOwn(draft, name) ? draft[name] : undefined
    if (text === undefined || text.trim() === '') {
      const empty = emptied(field, text)
      if (empty === 'refused') errors[name] = 'Required'
      else if (empty !== 'absent') data[name] = empty.value
      continue
    }
    const read = readText(field, text)
    const problem = 'error' in read ? null : limitProblem(field, read.value)
    if ('error' in read) errors[name] = read.error
    else if (problem !== null) errors[name] = underField(problem)
    else data[name] = read.value
  }
  return { data, errors }
}

function readText(field: Field, text: string): { value: JsonValue } | { error: string } {
  switch (widgetOf(field)) {
    case 'number': {
      const number = Number(text.trim())
      if (!Number.isFinite(number)) return { error: 'Must be a number' }
      if (isInexact(text.trim())) return { error: `This ${TOO_LARGE_TO_BE_EXACT}` }
      if (field.type === 'integer' && !Number.isSafeInteger(number)) return { error: 'Must be a whole number' }
      return { value: number }
    }
    case 'yes-no':
      return { value: text === 'true' }
    case 'choice':
    case 'json':
      return readJson(field, text)
    case 'file':
      return field.type === 'file' ? { value: text.trim() } : readJson(field, text)
    default:
      return field.type === 'any' ? jsonOrText(text) : { value: text }
  }
}

function readJson(field: Field, text: string): { value: JsonValue } | { error: string } {
  let value: JsonValue
  try {
    value = parseExact(text)
  } catch (err) {
    return { error: err instanceof InexactNumber ? err.message : 'Must be JSON' }
  }
  if (field.type === 'array' && !Array.isArray(value)) return { error: 'Must be a JSON list: [ … ]' }
  const object = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (field.type === 'object' && !object) return { error: 'Must be a JSON object: { … }' }
  return { value }
}

function jsonOrText(text: string): { value: JsonValue } | { error: string } {
  try {
    return { value: parseExact(text) }
  } catch (err) {
    // A lone number stays the typed text.
    return err instanceof InexactNumber && err.path !== '' ? { error: err.message } : { value: text }
  }
}

/** The server's messages by field: `data.amount` belongs to `amount`. Returns the rest separately. */
export function errorsByField(details: readonly { path?: string; message: string }[], fields: Fields) {
  const byField: Record<string, string> = {}
  const rest: string[] = []
  for (const { path = '', message } of details) {
    const name = path.replace(/^data\./, '')
    // The message begins with the field's name, which people know by its label.
    if (Object.hasOwn(fields, name))
      byField[name] = underField(message.startsWith(`${name} `) ? message.slice(name.length + 1) : message)
    else rest.push(named(path, message))
  }
  return { byField, rest }
}
