import { createHash } from 'node:crypto'
import { Ajv2020, type ErrorObject, type Format, str, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { fastFormats, fullFormats } from 'ajv-formats/dist/formats.js'
import { isMultiple } from '../definition/decimal'
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, own, pathText } from '../definition/json'
import type { ErrorDetail } from '../errors'
import { PatternTooCostly } from './patterns'
import {
  alternativesOf,
  linearPattern,
  PatternsTooSlow,
  schemaDangers,
  tracksEvaluated,
  WIDE,
  withinSteps,
  withPatterns,
} from './schema-limits'

const MAX_DETAILS = 20
/** For larger values, stop at the first mistake: each further one costs memory. */
const MAX_BYTES_FOR_ALL = 64 * 1024
const CAPACITY = 200

/** Compiles user-made schemas. Patterns run on RE2, so none can block the process. */
function newAjv(allErrors: boolean): Ajv2020 {
  // ajv calls this like RegExp. It needs `code` only for stand-alone modules, which we never generate.
  const regExp = Object.assign((pattern: string) => linearPattern(pattern), { code: 'linearPattern' })
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    allErrors,
    ownProperties: true,
    // Compiling 2,000 subschemas takes a tenth of a second this way, and more than two seconds with Ajv's own settings.
    inlineRefs: false,
    validateSchema: false,
    addUsedSchema: false,
    code: { regExp: regExp as never, optimize: false },
  })
  addFormats.default(ajv, { mode: 'fast' })
  for (const name of ['date', 'time', 'date-time', 'iso-time', 'iso-date-time'] as const)
    ajv.addFormat(name, (text: string) => isFormat(fastFormats[name], text) && isFormat(fullFormats[name], text))
  // Its pattern takes time quadratic in the length of the text.
  ajv.addFormat('url', (text: string) => text.length <= MAX_URL && isFormat(fullFormats.url, text))
  // ajv's own divides binary fractions, so 19.99 would not be a multiple of 0.01.
  ajv.removeKeyword('multipleOf')
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
    validate: (unit: number, value: number) => isMultiple(value, unit),
  })
  // ajv's own implementation compares every item with every other.
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate: (wanted: boolean, items: JsonValue[]) =>
      !wanted || new Set(items.map(canonicalJson)).size === items.length,
  })
  return ajv
}

const MAX_URL = 4_000

function isFormat(format: Format, text: string): boolean {
  if (format instanceof RegExp) return format.test(text)
  const check = typeof format === 'object' && 'validate' in format ? format.validate : format
  if (check instanceof RegExp) return check.test(text)
  return typeof check === 'function' ? check(text as never) === true : false
}

type Mode = 'first' | 'all'
const instances = new Map<string, Ajv2020>()

/** @param tracks whether a schema asks which parts of a value were evaluated, which makes compiling much slower */
function ajv(mode: Mode, tracks = false): Ajv2020 {
  const key = `${mode} ${tracks}`
  const known = instances.get(key) ?? newAjv(mode === 'all')
  known.opts.unevaluated = tracks
  instances.set(key, known)
  return known
}

/** All problems of a JSON Schema (2020-12) before it is saved. */
export function schemaProblems(schema: JsonObject, path: string): ErrorDetail[] {
  const dangers = schemaDangers(schema, path)
  if (dangers.length > 0) return dangers
  const plain = withoutDialect(schema)
  const all = ajv('all')
  if (!all.validateSchema(plain)) return detailsOf(all.errors ?? [], path)
  try {
    validatorOf(schema, isWide(schema) ? 'all' : 'first')
    return []
  } catch {
    return [{ path, message: 'is not a JSON Schema (2020-12)' }]
  }
}

/**
 * Why a value does not match a saved schema; empty if it does. Mentions places and rules, never values.
 * @param root the first part of the paths
 */
export function mismatches(schema: JsonObject, value: JsonValue, root: string): ErrorDetail[] {
  try {
    const text = JSON.stringify(value)
    if (isTooMuch(schema, text)) return [{ path: root, message: 'has too many values for so large a schema' }]
    const errors = errorsOf(schema, value, 'first')
    if (errors.length === 0 || text.length > MAX_BYTES_FOR_ALL) return detailsOf(errors, root)
    return detailsOf(errorsOf(schema, value, 'all'), root)
  } catch (err) {
    if (err instanceof PatternsTooSlow) return [{ path: root, message: 'is too large for the patterns of its schema' }]
    if (err instanceof PatternTooCostly)
      return [{ path: root, message: 'cannot be checked: the patterns of its schema take too long to compile' }]
    throw err
  }
}

/** A certain mistake in a value with templates such as `${x}`. */
export interface CertainMismatch {
  path: string
  message: string
  fault: 'missing' | 'unknown' | 'wrong'
}

/** Rules whose result depends on the contents of a value. */
const CONDITIONAL = /\/(anyOf|oneOf|not|if|then|else|contains|dependentSchemas)(\/|$)/

/** `mismatches` without those that a template may cause. */
export function certainMismatches(schema: JsonObject, value: JsonObject, root: string): CertainMismatch[] {
  const open = JSON.stringify(value).includes('${')
  try {
    const errors = errorsOf(schema, value, 'all').filter(({ keyword, schemaPath, instancePath }) => {
      if (!open) return true
      if (CONDITIONAL.test(schemaPath)) return false
      return (
        keyword === 'required' ||
        isExtra(keyword) ||
        !(JSON.stringify(valueAt(value, instancePath)) ?? '').includes('${')
      )
    })
    return detailsOf(errors, root).map((detail, index) => {
      const keyword = errors[index]?.keyword ?? ''
      const fault = keyword === 'required' ? 'missing' : isExtra(keyword) ? 'unknown' : 'wrong'
      return { path: detail.path ?? root, message: detail.message, fault }
    })
  } catch (err) {
    if (err instanceof PatternsTooSlow || err instanceof PatternTooCostly) return []
    throw err
  }
}

const isExtra = (keyword: string) => keyword === 'additionalProperties' || keyword === 'unevaluatedProperties'

function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  return namesIn(pointer).reduce<JsonValue | undefined>(
    (at, name) => (Array.isArray(at) ? at[Number(name)] : isJsonObject(at) ? own(at, name) : undefined),
    value,
  )
}

/** The names in a JSON pointer. */
function namesIn(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function errorsOf(schema: JsonObject, value: JsonValue, mode: Mode): readonly ErrorObject[] {
  const validate = validatorOf(schema, isWide(schema) ? 'all' : mode)
  return withinSteps(() => validate(value)) ? [] : (validate.errors ?? [])
}

/** Code that stops at the first mistake nests as deep as there are subschemas, too deep for the engine's parser. */
function isWide(schema: JsonObject): boolean {
  return JSON.stringify(schema).split('{').length > WIDE
}

/**
 * Each value may meet each alternative, and each mistake of a wide schema is held until it is known whether it counts.
 */
function isTooMuch(schema: JsonObject, value: string): boolean {
  if (value.length < MAX_KEPT) return false
  return (1 + alternativesOf(schema)) * value.split(',').length > (isWide(schema) ? MAX_KEPT : MAX_COMPARED)
}

const MAX_KEPT = 200_000
const MAX_COMPARED = 2_000_000

const compiled = new Map<string, ValidateFunction>()

function validatorOf(schema: JsonObject, mode: Mode): ValidateFunction {
  const key = `${mode}:${createHash('sha256').update(JSON.stringify(schema)).digest('base64')}`
  const known = compiled.get(key)
  if (known) {
    // Move it to the end: the first entry is the least recently used.
    compiled.delete(key)
    compiled.set(key, known)
    return known
  }
  const instance = ajv(mode, tracksEvaluated(schema))
  const plain = withoutDialect(schema)
  const validate = withPatterns(() => instance.compile(plain))
  // Cache it only here: ajv's own cache never evicts.
  instance.removeSchema(plain)
  if (compiled.size >= CAPACITY) compiled.delete(compiled.keys().next().value ?? key)
  compiled.set(key, validate)
  return validate
}

/** Treats schemas of other drafts as 2020-12; the meta-schema rejects the differences. */
function withoutDialect({ $schema: _dialect, ...schema }: JsonObject): JsonObject {
  return schema
}

function detailsOf(errors: readonly ErrorObject[], root: string): ErrorDetail[] {
  return errors.slice(0, MAX_DETAILS).map(({ instancePath, message, params, keyword }) => {
    const names = namesIn(instancePath).map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part))
    const odd = isExtra(keyword) ? String(params.additionalProperty ?? params.unevaluatedProperty) : undefined
    const last = keyword === 'required' ? String(params.missingProperty) : odd
    const path = pathText(last === undefined ? names : [...names, last], root)
    return { path, message: keyword === 'required' ? 'is required' : odd ? 'is not expected' : (message ?? keyword) }
  })
}
