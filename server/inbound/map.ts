import { ExpressionFailure } from '../definition/expression/evaluate'
import { checkFields, isRequired } from '../definition/fields'
import type { Scheme, Sent } from '../definition/inbound'
import { isJsonObject, type JsonObject, type JsonValue, jsonSize, own, typeName } from '../definition/json'
import type { Field, Fields } from '../definition/schema'
import { lookupIn, TemplateSyntaxError, UnresolvedReference } from '../definition/template'
import { MAX_JSON_BYTES } from '../http/body'
import { evaluateText, expressionEffort } from '../tools/expression'
import { schemes } from './schemes/registry'

export interface Rules {
  scheme: Scheme
  mapping: Record<string, string>
  when: string | null
}

interface Problem {
  [key: string]: string
  path: string
  message: string
}

/** Why a delivery starts no run; null if it does. An expression without a value also prevents it. */
export function filteredBecause({ scheme, when }: Rules, sent: Sent): string | null {
  if (schemes[scheme].ping?.(sent)) return 'A ping starts no run.'
  if (when === null) return null
  try {
    const value = evaluateText(when, lookupIn({ ...sent }))
    if (value === true) return null
    return value === false ? 'The filter is false.' : `The filter gives ${typeName(value)}, not true or false.`
  } catch (err) {
    return `The filter has no value: ${reasonOf(err)}`
  }
}

/**
 * Maps a delivery to START fields: by the mapping, and otherwise from body fields of the same name. Drops fields that
 * START does not declare.
 */
export function mapToStart(
  { mapping }: Pick<Rules, 'mapping'>,
  fields: Fields,
  sent: Sent,
): { data: JsonObject; problems: Problem[] } {
  const lookup = lookupIn({ ...sent })
  const values: JsonObject = {}
  const failed: Problem[] = []
  let left = MAX_JSON_BYTES
  const effort = expressionEffort()
  for (const [name, field] of Object.entries(fields)) {
    const found = fieldValue(own(mapping, name), name, field, sent.body, (text) => evaluateText(text, lookup, effort))
    if (found && 'problem' in found) {
      failed.push({ path: name, message: `${name}: ${found.problem}` })
      continue
    }
    if (found === undefined) continue
    left -= jsonSize(found.value)
    if (left < 0) {
      failed.push({ path: name, message: `${name}: the fields are larger than ${MAX_JSON_BYTES} bytes together` })
      break
    }
    values[name] = found.value
  }
  const checked = checkFields(fields, values)
  const known = new Set(failed.map(({ path }) => path))
  return { data: checked.data, problems: [...failed, ...checked.details.filter(({ path }) => !known.has(path))] }
}

/** A field's value. Undefined without one, so that its default applies. */
function fieldValue(
  expression: string | undefined,
  name: string,
  field: Field,
  body: JsonValue,
  evaluate: (text: string) => JsonValue,
): { value: JsonValue } | { problem: string } | undefined {
  if (expression === undefined) {
    const value = isJsonObject(body) ? own(body, name) : undefined
    return value === undefined ? undefined : { value: asField(field, value) }
  }
  try {
    return { value: asField(field, evaluate(expression)) }
  } catch (err) {
    if (err instanceof UnresolvedReference && !isRequired(field)) return undefined
    return { problem: reasonOf(err) }
  }
}

/**
 * Forms, headers and the query contain only texts: converts a text to the declared number or boolean if it reads as
 * one.
 */
function asField({ type }: Field, value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value
  const word = value.trim()
  if ((type === 'number' || type === 'integer') && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word)) {
    return Number.isFinite(Number(word)) ? Number(word) : value
  }
  if (type === 'boolean' && (word === 'true' || word === 'false')) return word === 'true'
  return value
}

/** @throws errors that are not about the expression */
function reasonOf(err: unknown): string {
  const isAbout = [ExpressionFailure, UnresolvedReference, TemplateSyntaxError].some((type) => err instanceof type)
  if (isAbout && err instanceof Error) return err.message
  throw err
}
