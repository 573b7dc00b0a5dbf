import { Effort } from '../../definition/effort'
import { expressionsOf } from '../../definition/expression/fields'
import { type Expression, parseExpression } from '../../definition/expression/parse'
import { formatOf, limitProblem } from '../../definition/field-limits'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import { findReferences, type Segment } from '../../definition/template'
import { referringConfig } from '../../definition/templated-config'
import { fillSchema, PER_VALUE, TooMuchToMake } from '../../models/fill-schema'
import { findStepType } from '../../steps/registry'

/** Picks one of several values, a different one on each path. */
export type Pick = <T>(about: string, options: readonly T[]) => T

/** Values that affect decisions in a definition: the constants in its comparisons, and their neighbours. */
export interface Candidates {
  numbers: readonly number[]
  texts: readonly string[]
}

const MAX_CANDIDATES = 16
const MAX_DEEP = 6
/** The budget for one path's values: about 10,000 values. */
const MAX_MADE = 600_000
/** This many uses of a value describe it well enough. */
const MAX_USES = 1_000

export function candidatesOf(definition: Definition): Candidates {
  const numbers = new Set<number>([1])
  const texts = new Set<string>(['text'])
  const visit = (part: Expression): void => {
    if (part.kind === 'literal') {
      if (typeof part.value === 'number') for (const near of [0, 1, -1]) numbers.add(part.value + near)
      if (typeof part.value === 'string') texts.add(part.value)
    }
    for (const inner of partsOf(part)) visit(inner)
  }
  for (const step of definition.steps) for (const { text } of expressionsOf(step)) visit(parseExpression(text))
  return { numbers: [...numbers].slice(0, MAX_CANDIDATES), texts: [...texts].slice(0, MAX_CANDIDATES) }
}

function partsOf(part: Expression): Expression[] {
  switch (part.kind) {
    case 'list':
      return part.items
    case 'not':
    case 'minus':
      return [part.operand]
    case 'binary':
      return [part.left, part.right]
    case 'choice':
      return [part.test, part.yes, part.no]
    case 'call':
      return part.args
    default:
      return []
  }
}

/** The parts of a value that the steps of a definition refer to, by the value's name. */
export type Uses = ReadonlyMap<string, readonly (readonly Segment[])[]>

export function usesOf(definition: Definition): Uses {
  const uses = new Map<string, (readonly Segment[])[]>()
  const add = (root: string, path: readonly Segment[]) => {
    const known = uses.get(root)
    if (!known) uses.set(root, [path])
    else if (known.length < MAX_USES) known.push(path)
  }
  for (const step of definition.steps) {
    for (const { reference } of findReferences(referringConfig(step)).references) add(reference.root, reference.path)
  }
  // An iterated value is a list of such items.
  const items = [[], ...(uses.get('item') ?? [])]
  for (const step of definition.steps) {
    for (const [field, wanted] of Object.entries(findStepType(step.type)?.takes ?? {})) {
      if (wanted !== 'array') continue
      for (const { reference } of findReferences({ [field]: step[field] }).references)
        for (const path of items) for (const nth of [0, 1]) add(reference.root, [...reference.path, nth, ...path])
    }
  }
  return uses
}

/** Makes values for a path of a simulation. Beyond the budget, it makes only null and empty lists. */
export class Values {
  private readonly effort = new Effort(MAX_MADE)

  constructor(
    private readonly candidates: Candidates,
    private readonly uses: Uses,
    private readonly pick: Pick,
  ) {}

  /**
   * A value for a JSON Schema.
   * @param name the name of the value, so that its uses determine the parts that the schema leaves open
   */
  of(schema: JsonValue | undefined, about: string, name: string): JsonValue {
    return this.fill(schema, about, this.uses.get(name) ?? [], 0)
  }

  /** A value known only by the references to it. */
  unknown(about: string, name: string): JsonValue {
    return this.shaped(this.uses.get(name) ?? [], about, 0)
  }

  private fill(
    given: JsonValue | undefined,
    about: string,
    uses: readonly (readonly Segment[])[],
    depth: number,
  ): JsonValue {
    if (!this.effort.allows(PER_VALUE + uses.length)) return null
    if (!isJsonObject(given) || depth > MAX_DEEP) return this.shaped(uses, about, depth)
    const { const: only, enum: values, anyOf, oneOf, allOf, $ref } = given
    if (only !== undefined) return only
    if (Array.isArray(values) && values.length > 0) return this.pick(about, values)
    if (allOf !== undefined || $ref !== undefined) return this.filled(given, '')
    const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : []
    if (choices.length > 0) return this.fill(this.pick(about, choices), about, uses, depth + 1)
    const types = Array.isArray(given.type) ? given.type : [given.type]
    const type = this.pick(`${about} type`, types) ?? (given.properties ? 'object' : given.items ? 'array' : undefined)
    switch (type) {
      case 'object':
        return this.object(given, about, uses, depth)
      case 'array': {
        const most = typeof given.maxItems === 'number' ? Math.min(given.maxItems, 2) : 2
        const least = typeof given.minItems === 'number' ? Math.min(given.minItems, 100) : 0
        const length = Math.max(least, this.pick(`${about} length`, [most, 0]))
        const inner = uses.flatMap(([first, ...rest]) => (typeof first === 'number' ? [rest] : []))
        return Array.from({ length }, (_, at) => this.fill(given.items, `${about}[${at}]`, inner, depth + 1))
      }
      case 'number':
      case 'integer':
        return this.number(given, about, type === 'integer')
      case 'boolean':
        return this.pick(about, [true, false])
      case 'null':
        return null
      case 'string':
        return this.text(given, about)
      default:
        return this.shaped(uses, about, depth)
    }
  }

  private filled(schema: JsonObject, message: string): JsonValue {
    try {
      return fillSchema(schema, { message, results: [] }, this.effort)
    } catch (err) {
      if (err instanceof TooMuchToMake) return null
      throw err
    }
  }

  private object(schema: JsonObject, about: string, uses: readonly (readonly Segment[])[], depth: number): JsonObject {
    const { properties, required, additionalProperties } = schema
    const known: JsonObject = isJsonObject(properties) ? properties : {}
    const needed = new Set(Array.isArray(required) ? required : [])
    const names = new Set([...Object.keys(known), ...[...needed].filter((name) => typeof name === 'string')])
    // An undeclared property may exist if something refers to it.
    if (additionalProperties !== false) for (const [first] of uses) if (typeof first === 'string') names.add(first)
    const filled: JsonObject = {}
    for (const name of names) {
      const isOptional = !needed.has(name) && Object.hasOwn(known, name)
      if (isOptional && !this.pick(`${about}.${name} given`, [true, false])) continue
      const inner = uses.flatMap(([first, ...rest]) => (first === name ? [rest] : []))
      filled[name] = this.fill(own(known, name), `${about}.${name}`, inner, depth + 1)
    }
    return filled
  }

  private number(schema: JsonObject, about: string, whole: boolean): number {
    const limit = (name: string, otherwise: number) => (typeof schema[name] === 'number' ? schema[name] : otherwise)
    const least = Math.max(limit('minimum', -Infinity), limit('exclusiveMinimum', -Infinity) + 1)
    const most = Math.min(limit('maximum', Infinity), limit('exclusiveMaximum', Infinity) - 1)
    const preset = typeof schema.default === 'number' ? [schema.default] : []
    const fits = [...preset, ...this.candidates.numbers].filter(
      (value) => value >= least && value <= most && (!whole || Number.isInteger(value)),
    )
    return fits.length > 0 ? this.pick(about, fits) : Number.isFinite(least) ? least : Number.isFinite(most) ? most : 0
  }

  private text(schema: JsonObject, about: string): string {
    const { format, pattern, minLength, maxLength, default: preset } = schema
    if (format !== undefined || pattern !== undefined || minLength !== undefined || maxLength !== undefined) {
      const made = String(this.filled({ ...schema, type: 'string' }, 'text'))
      return this.pick(about, [...new Set([made, ...this.textsOf(schema)])])
    }
    return this.pick(about, typeof preset === 'string' ? [preset, ...this.candidates.texts] : this.candidates.texts)
  }

  /** The constants that a text with a format may be, and its default. */
  private textsOf({ format, pattern, minLength, maxLength, default: preset }: JsonObject): string[] {
    const field = { type: 'string' as const, ...(format === undefined ? {} : { format }) }
    if (formatOf(field) === null || pattern !== undefined || minLength !== undefined || maxLength !== undefined)
      return []
    const texts = typeof preset === 'string' ? [preset, ...this.candidates.texts] : this.candidates.texts
    return texts.filter((text) => limitProblem(field, text) === null)
  }

  /** An object with the referenced parts, or a plain value. */
  private shaped(uses: readonly (readonly Segment[])[], about: string, depth: number): JsonValue {
    const inside = uses.filter((path) => path.length > 0)
    if (!this.effort.allows(PER_VALUE + uses.length)) return null
    if (inside.length === 0 || depth > MAX_DEEP)
      return this.pick<JsonValue>(about, depth === 0 ? [{}] : ['text', 1, true])
    const parts = new Map<Segment | undefined, Segment[][]>()
    for (const [head, ...rest] of inside) parts.set(head, [...(parts.get(head) ?? []), rest])
    const under = (first: Segment) => parts.get(first) ?? []
    if (inside.some(([first]) => typeof first === 'number')) {
      const most = Math.min(Math.max(...inside.map(([first]) => Number(first) || 0)), 9)
      return Array.from({ length: most + 1 }, (_, at) => this.shaped(under(at), `${about}[${at}]`, depth + 1))
    }
    const names = new Set(inside.map(([first]) => String(first)))
    return Object.fromEntries([...names].map((name) => [name, this.shaped(under(name), `${about}.${name}`, depth + 1)]))
  }
}
