import { isMultiple, times } from '../definition/decimal'
import { Effort } from '../definition/effort'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../definition/json'

const MAX_DEPTH = 12
/** The maximum for one schema: 20,000 values, or this many characters of texts. A tenth of a second at worst. */
export const MAX_MADE = 4_000_000
/** The cost of a value, besides its characters. */
export const PER_VALUE = 200
/** References and merged schemas cost too, though they make no values. */
const PER_HOP = 50

/** A schema asks for more values than the maximum. */
export class TooMuchToMake extends Error {
  override name = 'TooMuchToMake'
  constructor() {
    super('the schema asks for too many values')
  }
}

/** The sources of the scripted model's values. */
export interface Material {
  message: string
  /** Tool results, oldest first; their fields take precedence over the message. */
  results: JsonValue[]
}

/**
 * Makes a value for a JSON Schema, deterministically. The first rule that fits applies:
 * - `const`, or an `enum` value that the message names (`billed` names `billing`), or else the first one
 * - a property named like a field of a tool result takes that field's value, if the type fits
 * - a property the message sets (`amount: 12`, `amount=12`) takes the value after its name, a number also some words
 *   after it (`amount due 12`)
 * - `default`
 * - numbers: the message's numbers in order, else 0, clamped to `minimum` and `maximum`
 * - booleans: whether the message has the property's name without a `not` before it, or `yes` or `true`
 * - strings with a `format` (`email`, `date`, `date-time`, `uri`, `uuid`): the first one in the message, else a fixed
 *   one, or none if the property is optional; any other string is the message itself, or its first sentence where the
 *   length is limited and it has several, cut or padded to the required length
 * - arrays have one item, or `minItems`; an array of numbers has all of the message's numbers
 * - objects have every declared and every required property, but for the optional ones that would be made up; `anyOf`
 *   and `oneOf` use their first entry; local `$ref`s are followed
 * @param effort the shared budget of several schemas
 * @throws TooMuchToMake
 */
export function fillSchema(schema: JsonObject, material: Material, effort = new Effort(MAX_MADE)): JsonValue {
  const numbers = [...material.message.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number)
  return new Filler(schema, material, numbers, effort).fill(schema, '', 0)
}

class Filler {
  private readonly unused: number[]
  private readonly lower: string
  private known: string[] | undefined
  private readonly formats = new Map<string, string | undefined>()

  constructor(
    private readonly root: JsonObject,
    private readonly material: Material,
    private readonly numbers: number[],
    private readonly effort: Effort,
  ) {
    this.unused = [...numbers]
    this.lower = material.message.toLowerCase()
  }

  private spend(amount: number): void {
    if (!this.effort.allows(amount)) throw new TooMuchToMake()
  }

  fill(given: JsonValue | undefined, name: string, depth: number): JsonValue {
    this.spend(PER_VALUE + Math.floor(this.lower.length / 20))
    const schema = this.resolve(given)
    if (depth > MAX_DEPTH) return null
    if (schema.const !== undefined) return schema.const
    if (Array.isArray(schema.enum)) return this.pick(schema.enum)
    const type = typeOf(schema)
    if (type === 'object') return this.object(schema, depth)
    if (type === 'array') return this.array(schema, name, depth)
    const known = this.fromResults(name, type)
    if (known !== undefined) return known
    if (type === 'string') return this.string(schema, name)
    if (type === 'number' || type === 'integer') return this.number(schema, name, type)
    if (type === 'boolean') return this.boolean(schema, name)
    return schema.default ?? null
  }

  private resolve(given: JsonValue | undefined): JsonObject {
    let schema = isJsonObject(given) ? given : {}
    for (let hops = 0; hops < MAX_DEPTH; hops++) {
      this.spend(PER_HOP)
      if (typeof schema.$ref === 'string') schema = this.lookUp(schema.$ref)
      else if (Array.isArray(schema.anyOf) && isJsonObject(schema.anyOf[0])) schema = schema.anyOf[0]
      else if (Array.isArray(schema.oneOf) && isJsonObject(schema.oneOf[0])) schema = schema.oneOf[0]
      else if (Array.isArray(schema.allOf)) {
        const { allOf, ...rest } = schema
        schema = allOf.reduce<JsonObject>((all, one) => {
          this.spend(PER_HOP * (1 + (isJsonObject(all.properties) ? Object.keys(all.properties).length : 0)))
          return mergeSchemas(all, this.resolve(one))
        }, rest)
      } else break
    }
    return schema
  }

  private lookUp(ref: string): JsonObject {
    if (!ref.startsWith('#')) return {}
    let at: JsonValue | undefined = this.root
    for (const part of ref.slice(1).split('/').filter(Boolean)) {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
      at = isJsonObject(at) ? own(at, key) : undefined
    }
    return isJsonObject(at) ? at : {}
  }

  private object(schema: JsonObject, depth: number): JsonObject {
    const properties = isJsonObject(schema.properties) ? schema.properties : {}
    const required = Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === 'string') : []
    const needed = new Set(required)
    const names = new Set([...Object.keys(properties), ...required])
    const known = [...names].filter((key) => needed.has(key) || !this.wouldMakeUp(own(properties, key), key))
    return Object.fromEntries(known.map((key) => [key, this.fill(own(properties, key), key, depth + 1)]))
  }

  /** Whether the value would be made up: an address or date that is not in the message. */
  private wouldMakeUp(given: JsonValue | undefined, name: string): boolean {
    const { type, format, enum: values, const: constant } = this.resolve(given)
    if (type !== 'string' || values !== undefined || constant !== undefined || typeof format !== 'string') return false
    if (this.fromResults(name, type) !== undefined) return false
    return own(FORMATS, format) !== undefined && this.ofFormat(format) === undefined
  }

  private array(schema: JsonObject, name: string, depth: number): JsonValue {
    const known = this.fromResults(name, 'array')
    if (known !== undefined) return known
    const items = this.resolve(schema.items)
    const least = typeof schema.minItems === 'number' ? schema.minItems : 1
    const most = Math.min(typeof schema.maxItems === 'number' ? schema.maxItems : 1000, 1000)
    const itemType = typeOf(items)
    const wanted = itemType === 'number' || itemType === 'integer' ? Math.max(least, this.numbers.length) : least
    return Array.from({ length: Math.min(wanted, most) }, () => this.fill(items, name, depth + 1))
  }

  private string(schema: JsonObject, name: string): string {
    const { message } = this.material
    const format = typeof schema.format === 'string' ? own(FORMATS, schema.format) : undefined
    if (format) return this.ofFormat(String(schema.format)) ?? format.otherwise
    const limited = typeof schema.maxLength === 'number'
    const said = limited ? firstSentence(message) : message
    const text = this.labelled(name) ?? (typeof schema.default === 'string' ? schema.default : said)
    const least = Math.min(typeof schema.minLength === 'number' ? schema.minLength : 0, 10_000)
    const most = typeof schema.maxLength === 'number' ? schema.maxLength : text.length
    this.spend(text.length + least + (limited ? 2 * message.length : 0))
    // JSON Schema counts code points.
    const cut = text.length <= most ? text : [...text].slice(0, Math.max(most, 0)).join('')
    return cut.padEnd(least, '.')
  }

  /** The first text of a format in the message. */
  private ofFormat(format: string): string | undefined {
    if (!this.formats.has(format))
      this.formats.set(format, own(FORMATS, format)?.pattern.exec(this.material.message)?.[0])
    return this.formats.get(format)
  }

  private number(schema: JsonObject, name: string, type: 'number' | 'integer'): number {
    const exact = Number(this.labelled(name) ?? Number.NaN)
    const label = Number.isFinite(exact) ? exact : Number(this.numberAfter(name) ?? Number.NaN)
    const fallback = typeof schema.default === 'number' ? schema.default : 0
    const found = Number.isFinite(label) ? label : (this.unused.shift() ?? fallback)
    const whole = type === 'integer' ? Math.trunc(found) : found
    const limit = (name: string, otherwise: number) => (typeof schema[name] === 'number' ? schema[name] : otherwise)
    const least = Math.max(limit('minimum', -Infinity), limit('exclusiveMinimum', -Infinity) + 1)
    const most = Math.min(limit('maximum', Infinity), limit('exclusiveMaximum', Infinity) - 1)
    const inside = Math.min(Math.max(whole, least), most)
    const unit = limit('multipleOf', 0)
    if (unit <= 0 || isMultiple(inside, unit)) return inside
    const above = times(Math.ceil(inside / unit), unit)
    return above <= most ? above : times(Math.floor(inside / unit), unit)
  }

  private boolean(schema: JsonObject, name: string): boolean {
    const label = this.labelled(name)?.toLowerCase()
    if (label !== undefined) return ['true', 'yes', '1'].includes(label)
    const words = this.words()
    if (words.includes('yes') || words.includes('true')) return true
    const at =
      name === '' ? -1 : words.findIndex((word) => word === name.toLowerCase() || word === `${name.toLowerCase()}ly`)
    if (at !== -1) return !NOT.includes(words[at - 1] ?? '')
    return schema.default === true
  }

  private pick(values: JsonValue[]): JsonValue {
    this.spend(values.length * (10 + Math.floor(this.lower.length / 50)))
    const texts = values.filter((value) => typeof value === 'string')
    const words = this.words()
    const named =
      texts.find((value) => this.lower.includes(value.toLowerCase())) ??
      texts.find((value) => words.some((word) => word.startsWith(stemOf(value))))
    return named ?? values[0] ?? null
  }

  private words(): string[] {
    this.known ??= this.lower.split(/[^\p{L}\p{N}_]+/u)
    return this.known
  }

  /** The first number within a few words after the name. */
  private numberAfter(name: string): string | undefined {
    const { message } = this.material
    const at = name === '' ? -1 : this.lower.search(new RegExp(`\\b${escaped(name.toLowerCase())}\\b`))
    return at === -1 ? undefined : /^[^\d\n;]{0,24}?(-?\d+(?:\.\d+)?)/.exec(message.slice(at + name.length))?.[1]
  }

  /** The text after `name:` or `name=`, up to a comma, semicolon or line end. */
  private labelled(name: string): string | undefined {
    if (name === '') return undefined
    const { message } = this.material
    const wanted = name.toLowerCase()
    for (let at = this.lower.indexOf(wanted); at !== -1; at = this.lower.indexOf(wanted, at + 1)) {
      const before = at === 0 ? '' : message.charAt(at - 1)
      const after = /^\s*[:=]\s*([^,;\n]+)/.exec(message.slice(at + name.length, at + name.length + 500))
      if (!/[\p{L}\p{N}_]/u.test(before) && after?.[1]) return after[1].trim()
    }
    return undefined
  }

  private fromResults(name: string, type: string): JsonValue | undefined {
    for (const result of this.material.results.toReversed()) {
      const value = isJsonObject(result) ? own(result, name) : undefined
      if (value !== undefined && hasType(value, type)) return value
    }
    return undefined
  }
}

const NOT = ['not', 'no', 'never', 'isn', 'nothing']

/** The approximate stem of a word: `billing`, `billed` and `bills` have the same. */
function stemOf(word: string): string {
  return word.toLowerCase().slice(0, Math.max(4, word.length - 3))
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The first sentence that is more than a greeting; otherwise the whole text. */
function firstSentence(text: string): string {
  const sentences = text.split(/(?<=[.!?])\s+|\n+/).map((sentence) => sentence.trim())
  return sentences.find((sentence) => sentence.split(/\s+/).length > 3) ?? text
}

const FORMATS: Record<string, { pattern: RegExp; otherwise: string }> = {
  email: { pattern: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/, otherwise: 'nobody@example.com' },
  date: { pattern: /\d{4}-\d{2}-\d{2}/, otherwise: '1970-01-01' },
  'date-time': {
    pattern: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})/,
    otherwise: '1970-01-01T00:00:00Z',
  },
  uri: { pattern: /https?:\/\/[^\s<>"]{1,2000}/, otherwise: 'https://example.com/' },
  uuid: {
    pattern: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i,
    otherwise: '00000000-0000-4000-8000-000000000000',
  },
}

function typeOf(schema: JsonObject): string {
  const { type } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return String(type.find((one) => one !== 'null') ?? 'null')
  if (isJsonObject(schema.properties)) return 'object'
  return schema.items === undefined ? 'string' : 'array'
}

function hasType(value: JsonValue, type: string): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isSafeInteger(value)
  return typeof value === type
}

function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject {
  const merged = { ...a, ...b }
  if (isJsonObject(a.properties) && isJsonObject(b.properties)) merged.properties = { ...a.properties, ...b.properties }
  return merged
}
