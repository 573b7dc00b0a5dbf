import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import type { Shape } from './shape'

/** How a value is entered: by its schema's control, as an expression, or as JSON. */
export type Mode = 'own' | 'expression' | 'json'

export const isTemplate = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && value.includes('${')

/** The control that shows a value without loss. */
export function modeOf(shape: Shape, value: JsonValue | undefined): Mode {
  if (value === undefined) return 'own'
  switch (shape.kind) {
    case 'string':
      return typeof value === 'string' ? 'own' : 'json'
    case 'number':
    case 'integer':
      return typeof value === 'number' || typeof value === 'string' ? 'own' : 'json'
    case 'boolean':
      return typeof value === 'boolean' ? 'own' : typeof value === 'string' ? 'expression' : 'json'
    case 'choice':
      if (shape.options.some((option) => same(option, value))) return 'own'
      return typeof value === 'string' ? 'expression' : 'json'
    case 'object':
      return isJsonObject(value) ? 'own' : isTemplate(value) ? 'expression' : 'json'
    case 'list':
      return Array.isArray(value) ? 'own' : isTemplate(value) ? 'expression' : 'json'
    case 'any':
      return typeof value === 'string' ? 'own' : 'json'
  }
}

export const same = (a: JsonValue, b: JsonValue) => JSON.stringify(a) === JSON.stringify(b)

const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/**
 * A number if the text is one and all its digits fit into a number; otherwise the text: an expression, an unfinished
 * entry or too many digits.
 */
export function numberOrText(text: string): number | string {
  const number = Number(text)
  return NUMBER.test(text.trim()) && Number.isFinite(number) && amountOf(text) === amountOf(String(number))
    ? number
    : text
}

const inexact = (value: JsonValue) =>
  typeof value === 'string' && NUMBER.test(value.trim()) && numberOrText(value) === value

/** A normal form for all spellings of a decimal number: `1.50`, `01.5` and `15e-1`. */
function amountOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.trim().toLowerCase().replace(/^-/, '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  return significant === ''
    ? '0'
    : `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** The value of a number field's text. */
export const numberValue = (text: string) => (text === '' ? undefined : numberOrText(text))

/** The text of a number field: as typed while it means the same value, such as `1.` on the way to `1.5`. */
export function numberText(value: JsonValue | undefined, typed: string): string {
  if (value === undefined) return ''
  const meant = numberValue(typed)
  return meant !== undefined && same(meant, value) ? typed : String(value)
}

/** Why the value in its own control is invalid, as far as the browser can check. */
export function valueProblem(shape: Shape, value: JsonValue | undefined): string | null {
  if (value === undefined || isTemplate(value)) return null
  switch (shape.kind) {
    case 'number':
    case 'integer':
      if (inexact(value)) return 'This number has too many digits to be stored exactly.'
      if (typeof value === 'string') return `Enter a number${shape.kind === 'integer' ? ' without a fraction' : ''}.`
      if (typeof value !== 'number') return 'This must be a number.'
      return shape.kind === 'integer' && !Number.isInteger(value) ? 'Enter a number without a fraction.' : null
    case 'choice':
      return shape.options.some((option) => same(option, value)) ? null : 'This is not one of the choices.'
    case 'boolean':
      return typeof value === 'boolean' ? null : 'This must be true or false.'
    case 'string':
      return typeof value === 'string' ? null : 'This must be text.'
    case 'object':
      return isJsonObject(value) ? null : 'This must be an object.'
    case 'list':
      return Array.isArray(value) ? null : 'This must be a list.'
    case 'any':
      return null
  }
}

/** The object with a name set in place, or removed by `undefined`. */
export function withValue(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  const entries = Object.entries(object).filter(([key]) => key !== name || value !== undefined)
  const known = Object.hasOwn(object, name)
  const next = entries.map(([key, old]) => [key, key === name ? value : old] as const)
  return Object.fromEntries(known || value === undefined ? next : [...next, [name, value]]) as JsonObject
}

/** The names of an object that its schema does not mention. */
export function unknownNames(shape: Shape, object: JsonObject): string[] {
  return Object.keys(object).filter((name) => !shape.fields.some((field) => field.name === name))
}

/** Stands for a value missing in a list. It is no number, boolean or choice, so every check reports it. */
const GAP = ''

/** The value of a new or emptied list element. Never one that looks chosen. */
export function emptyValue(shape: Shape): JsonValue {
  if (shape.kind === 'object') return {}
  return shape.kind === 'list' ? [] : GAP
}

/** Whether a list element has no value yet. Empty text is a value in a list of texts. */
export function isGap(shape: Shape, value: JsonValue): boolean {
  switch (shape.kind) {
    case 'number':
    case 'integer':
    case 'boolean':
      return value === GAP
    case 'choice':
      return value === GAP && !shape.options.includes(GAP)
    default:
      return false
  }
}

export const optionText = (option: JsonValue) => (typeof option === 'string' ? option : JSON.stringify(option))
