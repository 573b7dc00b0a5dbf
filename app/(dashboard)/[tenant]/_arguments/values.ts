import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import type { Shape } from './shape'

/** How a value is entered: as its schema says, as an expression in place of it, or as JSON. */
export type Mode = 'own' | 'expression' | 'json'

export const isTemplate = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && value.includes('${')

/** The control that shows a value without losing any of it. */
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

/** A number where the text is one, else the text: an expression, or what somebody has not finished typing. */
export function numberOrText(text: string): number | string {
  const trimmed = text.trim()
  return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) && Number.isFinite(Number(trimmed)) ? Number(trimmed) : text
}

/** What is wrong with a value that its own control shows, as far as that can be seen without the server. */
export function valueProblem(shape: Shape, value: JsonValue | undefined): string | null {
  if (value === undefined || isTemplate(value)) return null
  switch (shape.kind) {
    case 'number':
    case 'integer':
      if (typeof value === 'string') return `Enter a number${shape.kind === 'integer' ? ' without a fraction' : ''}.`
      if (typeof value !== 'number') return 'This must be a number.'
      return shape.kind === 'integer' && !Number.isInteger(value) ? 'Enter a number without a fraction.' : null
    case 'choice':
      return shape.options.some((option) => same(option, value)) ? null : 'This is none of the choices.'
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

/** The object with a name set, in its place, or removed by `undefined`. */
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

/** The first value of a new element of a list. */
export function emptyValue(shape: Shape | null): JsonValue {
  switch (shape?.kind) {
    case 'object':
      return {}
    case 'list':
      return []
    case 'number':
    case 'integer':
      return 0
    case 'boolean':
      return false
    case 'choice':
      return shape.options[0] ?? ''
    default:
      return ''
  }
}

/** An option as people read it. */
export const optionText = (option: JsonValue) => (typeof option === 'string' ? option : JSON.stringify(option))
