import { type Callers, type ChangeKind, diffFields } from '@/server/definition/diff'
import type { JsonObject } from '@/server/definition/json'
import type { Field } from '@/server/definition/schema'
import { listWords, typeWords } from '../_arguments/type-words'
import { kindWords } from '../_fields/kinds'
import { sameJson } from './json'
import { type SchemaField, toFields } from './schema-fields'
import { kindOf } from './schema-kinds'
import { limitsText } from './schema-limits'

/** A field that differs. A side is null where it does not exist. */
export interface SchemaDifference {
  /** `items[].price` is a field of a list's objects. */
  path: string
  kind: ChangeKind
  before: string | null
  now: string | null
  /** What breaks for callers; null if nothing does. */
  breaking: string | null
}

const OF_TOOL: Callers = { fail: 'fail', reach: 'the tool' }

/**
 * The fields of two schemas that differ, with what breaks for those who send the values, or who read them. Null if a table
 * cannot express a schema.
 */
export function schemaDifferences(
  before: JsonObject | null,
  now: JsonObject | null,
  side: 'input' | 'output',
): SchemaDifference[] | null {
  const [old, fields] = [rowsOf(before), rowsOf(now)]
  if (!old || !fields) return null
  const breaking = new Map(
    diffFields(fieldsOf(old), fieldsOf(fields), OF_TOOL).map((change) => [change.name, change.breaking]),
  )
  const paths = [...fields.keys(), ...[...old.keys()].filter((path) => !fields.has(path))]
  const found = paths.flatMap((path): SchemaDifference[] => {
    const [was, is] = [old.get(path), fields.get(path)]
    // A field of an object that itself came or went says nothing more.
    if ((was && hasNewParent(path, fields)) || (is && hasNewParent(path, old))) return []
    if (was && is && sameJson(plain(was), plain(is))) return []
    const broken = side === 'output' ? breaksReaders(path, was, is) : (breaking.get(path) ?? null)
    const unclear = was && is && (was.type === 'other' || is.type === 'other')
    const kind = !was ? 'added' : is ? 'changed' : 'removed'
    const words = wordsOfBoth(was, is)
    return [{ path, kind, ...words, breaking: unclear ? 'Callers may fail: the JSON shows how it differs.' : broken }]
  })
  return [...found, ...restOf(before, now)]
}

function rowsOf(schema: JsonObject | null): Map<string, SchemaField> | null {
  if (schema === null) return new Map()
  const fields = toFields(schema)
  if (fields === null) return null
  const rows = new Map<string, SchemaField>()
  const add = (list: readonly SchemaField[], prefix: string) => {
    for (const field of list) {
      const path = `${prefix}${field.name}`
      rows.set(path, field)
      add(field.fields, `${path}${field.type === 'array' ? '[]' : ''}.`)
    }
  }
  add(fields, '')
  return rows
}

function hasNewParent(path: string, other: ReadonlyMap<string, SchemaField>): boolean {
  const parent = path.replace(/(\[\])?\.[^.]*$/, '')
  return parent !== path && !other.has(parent)
}

const plain = ({ key: _key, name: _name, fields: _fields, ...field }: SchemaField) => field

function fieldsOf(rows: ReadonlyMap<string, SchemaField>): Record<string, Field> {
  return Object.fromEntries(
    [...rows].map(([path, { type, required, keep }]) => {
      const options = Array.isArray(keep.enum) ? { options: keep.enum } : {}
      return [path, { type: type === 'other' ? 'any' : type, required, ...options } as Field]
    }),
  )
}

/** The counterpart of `breaks` of `diff.ts`, for those who read the values. */
function breaksReaders(path: string, was: SchemaField | undefined, is: SchemaField | undefined): string | null {
  if (!was) return null
  if (!is) return `Callers that read ${path} no longer get it.`
  const narrower = is.type === was.type || was.type === 'any' || (was.type === 'number' && is.type === 'integer')
  if (!narrower) return `Callers that read ${path} as ${was.type} get ${is.type} now.`
  if (was.required && !is.required) return `Callers that read ${path} may not get it.`
  const texts = (options: unknown) => (Array.isArray(options) ? options.map((one) => JSON.stringify(one)) : null)
  const [old, allowed] = [texts(was.keep.enum), texts(is.keep.enum)]
  if (old && (!allowed || allowed.some((option) => !old.includes(option))))
    return `Callers that read ${path} may get a value that was not possible before.`
  return null
}

function wordsOfBoth(was: SchemaField | undefined, is: SchemaField | undefined) {
  const [before, now] = [was ? wordsOf(was) : null, is ? wordsOf(is) : null]
  if (before !== now || !was || !is) return { before, now }
  // What differs has no words of its own.
  const json = ({ keep, keepItems }: SchemaField) => JSON.stringify({ ...keep, ...keepItems })
  return { before: json(was), now: json(is) }
}

function wordsOf(field: SchemaField): string {
  const { type, items, required, description } = field
  if (type === 'other') return JSON.stringify(field.keep)
  const kind = kindOf(field)
  const of = type === 'array' && items && items !== 'any' ? ` of ${listWords(typeWords(items))}` : ''
  const limits = limitsText(field)
  return [
    `${kind === 'other' ? type : kindWords(kind)}${of}`,
    required ? 'required' : 'optional',
    ...(limits === null ? [] : [limits.charAt(0).toLowerCase() + limits.slice(1)]),
    ...(description === '' ? [] : [`“${description}”`]),
  ].join(', ')
}

/** What a schema says besides its fields. */
function restOf(before: JsonObject | null, now: JsonObject | null): SchemaDifference[] {
  const rest = (schema: JsonObject | null) => {
    const { type: _type, properties: _properties, required: _required, ...others } = schema ?? {}
    return others
  }
  const [was, is] = [rest(before), rest(now)]
  if (sameJson(was, is)) return []
  const breaking = 'Callers may fail: the JSON shows how it differs.'
  return [{ path: 'All fields', kind: 'changed', before: JSON.stringify(was), now: JSON.stringify(is), breaking }]
}
