import { formatOf, type TextFormat } from '@/server/definition/field-limits'
import { isJsonObject, type JsonObject, type JsonValue, own } from '@/server/definition/json'
import type { FieldType } from '@/server/definition/schema'
import { kindWords } from '../_fields/kinds'
import { listWords, typeWords } from './type-words'

type Kind = 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'object' | 'list' | 'any'

/** What a form needs from a value's JSON Schema. */
export interface Shape {
  kind: Kind
  /** The type as a row shows it, such as `list of text`. */
  words: string
  description: string
  /** How a text is entered. */
  format: TextFormat | null
  /** The values of a choice. */
  options: JsonValue[]
  /** The known names inside an object. */
  fields: ShapeField[]
  /** Whether an object accepts other names too. */
  open: boolean
  /** A list's elements. */
  item: Shape | null
  /** The tool's default for a missing value. */
  fallback: JsonValue | undefined
}

export interface ShapeField {
  name: string
  required: boolean
  shape: Shape
}

const ANYTHING = typeWords('any')

const ANY: Shape = {
  kind: 'any',
  words: ANYTHING,
  description: '',
  format: null,
  options: [],
  fields: [],
  open: true,
  item: null,
  fallback: undefined,
}

/** Deeper values are edited as JSON. A schema may refer to itself. */
const MAX_DEPTH = 5

/** Reads a JSON Schema. Parts that a form cannot express become a value of any type, entered as text or JSON. */
export function shapeOf(schema: JsonValue | undefined, root: JsonValue | undefined = schema, depth = 0): Shape {
  const found = resolved(schema, root)
  if (!isJsonObject(found) || depth > MAX_DEPTH) return ANY
  const about = {
    description: typeof found.description === 'string' ? found.description : '',
    fallback: found.default,
  }
  const options = optionsOf(found)
  if (options) return { ...ANY, ...about, kind: 'choice', words: wordsOfOptions(options), options }
  const either = Array.isArray(found.anyOf) ? found.anyOf : Array.isArray(found.oneOf) ? found.oneOf : null
  if (either) {
    const shapes = either.filter((one) => !isNull(one)).map((one) => shapeOf(one, root, depth + 1))
    const [only] = shapes
    if (shapes.length === 1 && only) return { ...only, ...about, description: about.description || only.description }
    const words = [...new Set(shapes.map((shape) => shape.words))]
    return { ...ANY, ...about, words: words.length === 0 || words.length > 3 ? ANYTHING : words.join(' or ') }
  }
  const types = typesOf(found)
  const [type] = types.length === 1 ? types : []
  switch (type) {
    case 'string': {
      const format = formatOf({ type, format: found.format ?? null })
      return { ...ANY, ...about, kind: type, words: kindWords(format ?? type), format }
    }
    case 'number':
    case 'integer':
    case 'boolean':
      return { ...ANY, ...about, kind: type, words: typeWords(type) }
    case 'array': {
      const item = found.items === undefined ? null : shapeOf(found.items, root, depth + 1)
      const words = item === null || item.words === ANYTHING ? 'list' : `list of ${listWords(item.words)}`
      return { ...ANY, ...about, kind: 'list', words, item }
    }
    case 'object':
      return { ...ANY, ...about, kind: 'object', words: 'object', ...fieldsOf(found, root, depth) }
    default:
      return { ...ANY, ...about, words: types.length === 0 ? ANYTHING : types.map(typeWords).join(' or ') }
  }
}

function fieldsOf(schema: JsonObject, root: JsonValue | undefined, depth: number): Pick<Shape, 'fields' | 'open'> {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  // The database preserves the order of lists but not of object keys, so `required` provides the order of the fields.
  const rank = (name: string) => (required.includes(name) ? required.indexOf(name) : required.length)
  const fields = Object.keys(properties)
    .sort((a, b) => rank(a) - rank(b))
    .map((name) => ({
      name,
      required: required.includes(name),
      shape: shapeOf(own(properties, name), root, depth + 1),
    }))
  return { fields, open: schema.additionalProperties !== false }
}

/** Follows a reference inside the same schema; other schemas are returned unchanged. */
function resolved(schema: JsonValue | undefined, root: JsonValue | undefined): JsonValue | undefined {
  let found = schema
  for (let hop = 0; hop < MAX_DEPTH && isJsonObject(found) && typeof found.$ref === 'string'; hop++) {
    const { $ref, ...beside } = found
    if (!$ref.startsWith('#/')) return {}
    const target = $ref
      .slice(2)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<JsonValue | undefined>((at, part) => (isJsonObject(at) ? own(at, part) : undefined), root)
    found = isJsonObject(target) ? { ...target, ...beside } : target
  }
  return found
}

function optionsOf(schema: JsonObject): JsonValue[] | null {
  if (schema.const !== undefined) return [schema.const]
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum
  const either = Array.isArray(schema.anyOf) ? schema.anyOf : Array.isArray(schema.oneOf) ? schema.oneOf : []
  const constants = either.flatMap((one) => (isJsonObject(one) && one.const !== undefined ? [one.const] : []))
  return constants.length > 0 && constants.length === either.length ? constants : null
}

function typesOf({ type, properties, items }: JsonObject): string[] {
  if (Array.isArray(type)) return type.filter((one): one is string => typeof one === 'string' && one !== 'null')
  if (typeof type === 'string') return [type]
  if (isJsonObject(properties)) return ['object']
  return items === undefined ? [] : ['array']
}

const isNull = (schema: JsonValue) => isJsonObject(schema) && schema.type === 'null'

function wordsOfOptions(options: JsonValue[]): string {
  return options.length === 1 ? 'fixed' : `one of ${options.length}`
}

/** The type to match against a run's values. */
export function wantedType(shape: Shape): FieldType {
  if (shape.kind === 'list') return 'array'
  if (shape.kind !== 'choice') return shape.kind
  const types = new Set(shape.options.map((option) => typeof option))
  const [type] = types.size === 1 ? types : []
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'any'
}
