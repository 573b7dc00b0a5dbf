import type { z } from 'zod'
import { Effort } from './effort'
import { isJsonObject, type JsonValue } from './json'
import { nearestName } from './nearest'

/** A name in a value that its schema does not have. */
export interface UnknownName {
  path: (string | number)[]
  /** The name that was probably meant. */
  suggestion: string | null
}

/** What a schema says of the names in a value: those of one object, or one schema for every item or name. */
type Inside = { names: Record<string, z.core.$ZodType> } | { every: z.core.$ZodType }

/** No list of warnings is longer. */
const MAX_FOUND = 100
const MAX_SUGGESTED = 100
/** The budget for suggesting names, in letters compared: a tenth of a second, and some hundreds of names. */
const FOR_NAMES = 5_000_000

/**
 * Names that people write for a field that is called differently here, with what it is called where. In lower case:
 * what they mean is clear, but not what it is spelt like.
 */
const OTHER_NAMES: Record<string, readonly string[]> = {
  arguments: ['args', 'input'],
  condition: ['when'],
  data: ['values', 'dataContext'],
  duration: ['for'],
  expression: ['when'],
  fields: ['output', 'payload'],
  if: ['when'],
  input: ['args', 'payload'],
  inputs: ['output', 'payload', 'args'],
  parameters: ['args', 'input', 'inputSchema'],
  params: ['args', 'input'],
  prompt: ['instructions', 'message'],
  result: ['output'],
  returns: ['output', 'outputSchema'],
  script: ['code'],
  system: ['instructions'],
  systemprompt: ['instructions'],
  text: ['message'],
  title: ['name'],
}

/**
 * The names in a value that mean nothing to the schema it is parsed with. What the schema takes as any JSON may have
 * any names.
 * @param schema a schema, or those of an object's fields by name
 * @param options.effort the remaining budget for suggestions, if many values are looked at
 * @param options.open `loose` if objects whose unknown names are kept may have any
 */
export function unknownNames(
  schema: z.core.$ZodType | Record<string, z.core.$ZodType>,
  value: JsonValue | undefined,
  { effort = new Effort(FOR_NAMES), open }: { effort?: Effort; open?: 'loose' } = {},
): UnknownName[] {
  const found: UnknownName[] = []
  const insideOf = (within: z.core.$ZodType, item: JsonValue | undefined) => inside(within, item, open === 'loose')
  const walk = (within: Inside | null, at: JsonValue | undefined, path: readonly (string | number)[]): void => {
    if (within === null || found.length >= MAX_FOUND) return
    const each = (name: string | number, item: JsonValue, inner: z.core.$ZodType) =>
      walk(insideOf(inner, item), item, [...path, name])
    if (Array.isArray(at)) {
      if ('every' in within) for (const [index, item] of at.entries()) each(index, item, within.every)
    } else if (isJsonObject(at)) {
      for (const [name, item] of Object.entries(at)) {
        const inner = 'every' in within ? within.every : own(within.names, name)
        if (inner) each(name, item, inner)
        else if ('names' in within && found.length < MAX_FOUND)
          found.push({ path: [...path, name], suggestion: meantBy(name, at, within.names, effort) })
      }
    }
  }
  walk('_zod' in schema ? insideOf(schema as z.core.$ZodType, value) : { names: schema }, value, [])
  return found
}

const own = <T>(names: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(names, name) ? names[name] : undefined

/** The fields of an object's schema; none of any other. */
export function shapeOf(schema: z.core.$ZodType): Record<string, z.core.$ZodType> {
  const { def } = (schema as z.core.$ZodTypes)._zod
  return def.type === 'object' ? def.shape : {}
}

/** The names that a schema describes at the top of a value, however it is wrapped. */
export function namesOf(schema: z.core.$ZodType): string[] {
  return described(schema).flatMap((one) => Object.keys(shapeOf(one)))
}

/** The schema without its wrappers, or those that it is a choice of. */
function described(schema: z.core.$ZodType): z.core.$ZodType[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return described(def.innerType)
    case 'pipe':
      return described(def.in)
    case 'union':
      return def.options.flatMap(described)
    default:
      return [schema]
  }
}

/**
 * What a schema says of the names inside a value; null if they are any. Of several, the one that takes the value, or
 * else the first that describes it.
 */
function inside(schema: z.core.$ZodType, value: JsonValue | undefined, loose: boolean): Inside | null {
  const ways = described(schema).filter((way) => within(way, value, loose) !== null)
  const taken = ways.length > 1 ? ways.find((way) => parses(way, value)) : undefined
  const way = taken ?? ways[0]
  return way ? within(way, value, loose) : null
}

function within(schema: z.core.$ZodType, value: JsonValue | undefined, loose: boolean): Inside | null {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'array') return Array.isArray(value) ? { every: def.element } : null
  if (!isJsonObject(value)) return null
  if (def.type === 'record') return { every: def.valueType }
  if (def.type !== 'object' || (loose && isLoose(def.catchall))) return null
  return { names: def.shape }
}

/** Whether an object keeps names that its schema does not have. */
function isLoose(catchall: z.core.$ZodType | undefined): boolean {
  return catchall !== undefined && (catchall as z.core.$ZodTypes)._zod.def.type !== 'never'
}

function parses(schema: z.core.$ZodType, value: unknown): boolean {
  return (schema as z.ZodType).safeParse(value).success
}

/** The field that was probably meant: one that the object does not have yet. */
function meantBy(name: string, at: object, names: Record<string, z.core.$ZodType>, effort: Effort): string | null {
  if (name.length > MAX_SUGGESTED) return null
  const free = Object.keys(names).filter((known) => !Object.hasOwn(at, known))
  const lower = name.toLowerCase()
  const longer = lower.length < 3 ? [] : free.filter((known) => known.toLowerCase().startsWith(lower))
  return (
    nearestName(name, free, effort) ??
    (own(OTHER_NAMES, lower) ?? []).find((known) => free.includes(known)) ??
    (longer.length === 1 ? (longer[0] ?? null) : null)
  )
}
