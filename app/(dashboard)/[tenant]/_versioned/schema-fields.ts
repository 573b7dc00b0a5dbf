import type { JsonObject, JsonValue } from '@/server/definition/json'
import { isObject } from './json'

/** `other`: a schema that a row cannot express, preserved unchanged. */
export type FieldType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'any' | 'other'
export const ITEM_TYPES = ['any', 'string', 'number', 'integer', 'boolean', 'object'] as const
type ItemType = (typeof ITEM_TYPES)[number]

/** A property of an object's schema as a table row. */
export interface SchemaField {
  /** Identifies the row, not the property; stable while the name is typed. */
  key: string
  name: string
  type: FieldType
  required: boolean
  description: string
  /** For an array. Null if the row cannot express it and `keep` holds it. */
  items: ItemType | null
  /** For an object or an array of objects. */
  fields: SchemaField[]
  /** The rest of the property's schema. */
  keep: JsonObject
  /** The rest of the schema of an array's objects. */
  keepItems: JsonObject
}

let count = 0
export function newField(name = ''): SchemaField {
  count += 1
  const nothing = { description: '', items: null, fields: [], keep: {}, keepItems: {} }
  return { key: `field-${count}`, name, type: 'string', required: true, ...nothing }
}

/** An object schema's properties as rows. Null if a table cannot express them. */
export function toFields(schema: JsonObject): SchemaField[] | null {
  if (schema.type !== 'object' || ('properties' in schema && !isObject(schema.properties))) return null
  if ('required' in schema && !isNames(schema.required)) return null
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = isNames(schema.required) ? schema.required : []
  if (required.some((name) => !Object.hasOwn(properties, name))) return null
  // The database preserves the order of lists but not of object keys, so `required` provides the order of the fields.
  const place = (name: string) => (required.includes(name) ? required.indexOf(name) : required.length)
  return Object.entries(properties)
    .sort(([a], [b]) => place(a) - place(b))
    .map(([name, property]) => toField(name, property, required.includes(name)))
}

function toField(name: string, property: JsonValue, required: boolean): SchemaField {
  const field: SchemaField = { ...newField(name), required }
  if (!isObject(property)) return { ...field, type: 'other', keep: { '': property } }
  const { type, description, ...keep } = property
  if (description !== undefined && typeof description !== 'string') return { ...field, type: 'other', keep: property }
  field.description = description ?? ''
  // In a row, an empty description would look like a missing one.
  if (description === '') return { ...field, type: 'other', keep: { ...keep, ...typeIfAny(type), description } }
  if (type === undefined) return { ...field, type: Object.keys(keep).length === 0 ? 'any' : 'other', keep }
  if (type === 'object') {
    const fields = toFields(property)
    if (fields === null) return { ...field, type: 'other', keep: { type, ...keep } }
    const { properties, required: _required, ...rest } = keep
    // Written back only if it is not empty.
    const empty = properties !== undefined && fields.length === 0 ? { properties } : {}
    return { ...field, type, fields, keep: { ...rest, ...empty, ...emptyRequired(keep) } }
  }
  if (type === 'array') return { ...field, type, ...toItems(keep) }
  if (type === 'string' || type === 'number' || type === 'integer' || type === 'boolean')
    return { ...field, type, keep }
  return { ...field, type: 'other', keep: { type, ...keep } }
}

function toItems(keep: JsonObject): Pick<SchemaField, 'items' | 'fields' | 'keep' | 'keepItems'> {
  const { items, ...rest } = keep
  const none = { fields: [], keepItems: {} }
  if (items === undefined) return { items: 'any', keep, ...none }
  if (!isObject(items)) return { items: null, keep, ...none }
  const { type, ...more } = items
  if (type === 'object') {
    const fields = toFields(items)
    if (fields === null) return { items: null, keep, ...none }
    const { properties, required: _required, ...others } = more
    const empty = properties !== undefined && fields.length === 0 ? { properties } : {}
    return { items: type, fields, keep: rest, keepItems: { ...others, ...empty, ...emptyRequired(more) } }
  }
  const plain = type === 'string' || type === 'number' || type === 'integer' || type === 'boolean'
  return plain ? { items: type, keep: rest, fields: [], keepItems: more } : { items: null, keep, ...none }
}

/** Why rows cannot form a schema: a missing or duplicate name. */
export function fieldProblem(fields: SchemaField[]): string | null {
  const names = fields.map(({ name }) => name)
  if (names.includes('')) return 'a field needs a name'
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `there are two fields ${twice}`
  return fields.map((field) => fieldProblem(field.fields)).find((problem) => problem !== null) ?? null
}

/**
 * The schema with these rows as its properties; the rest of it is unchanged. Rows without a name are left out for now.
 */
export function toSchema(base: JsonObject, fields: SchemaField[]): JsonObject {
  const { type: _type, properties, required, ...rest } = base
  const named = fields.filter(({ name }) => name !== '')
  const names = named.filter((field) => field.required).map(({ name }) => name)
  const filled = named.length > 0 || properties !== undefined
  return {
    type: 'object',
    ...(filled ? { properties: Object.fromEntries(named.map((field) => [field.name, toProperty(field)])) } : {}),
    ...(names.length > 0 || required !== undefined ? { required: names } : {}),
    ...rest,
  }
}

function toProperty(field: SchemaField): JsonValue {
  const { type, keep, keepItems, fields, items } = field
  const description = field.description === '' ? {} : { description: field.description }
  if (type === 'other') return '' in keep ? (keep[''] ?? null) : { ...keep, ...description }
  if (type === 'any') return description
  if (type === 'object') return { ...toSchema(keep, fields), ...description }
  if (type !== 'array') return { type, ...description, ...keep }
  if (items === null || items === 'any') return { type, ...description, ...keep }
  const item = items === 'object' ? toSchema(keepItems, fields) : { type: items, ...keepItems }
  return { type, ...description, items: item, ...keep }
}

const typeIfAny = (type: JsonValue | undefined): JsonObject => (type === undefined ? {} : { type })
const emptyRequired = ({ required }: JsonObject): JsonObject =>
  Array.isArray(required) && required.length === 0 ? { required } : {}
const isNames = (value: JsonValue | undefined): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string') && new Set(value).size === value.length
