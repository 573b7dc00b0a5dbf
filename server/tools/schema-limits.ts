import { RE2JS } from 're2js'
import { Effort } from '../definition/effort'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../definition/json'
import type { ErrorDetail } from '../errors'
import { type Pattern, PatternTooCostly, patternOf } from './patterns'

const MAX_BYTES = 64 * 1024
/** Subschemas after expanding every `$ref`: bounds the time to validate a value. */
const MAX_EXPANDED = 2_000
const MAX_PATTERN = 1_000

const ONE =
  'additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties'
const LIST = 'allOf anyOf oneOf prefixItems'
const MAP = 'dependencies dependentSchemas patternProperties properties'
const DEFINITIONS = '$defs definitions'
/** With these, the meaning of a `$ref` depends on more than its text. */
const REFUSED = '$id $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor'

const keywords = (text: string) => text.split(' ')

/**
 * Why a schema is too dangerous to run in the service: its size, references that point elsewhere, are circular or
 * expand too far, and patterns that need backtracking.
 */
export function schemaDangers(schema: JsonObject, path: string): ErrorDetail[] {
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > MAX_BYTES) return [{ path, message: `is larger than ${MAX_BYTES} bytes` }]
  const walk = new Walk(schema)
  const size = walk.visit(schema, path)
  if (walk.problems.length === 0 && size > MAX_EXPANDED)
    return [{ path, message: `has more than ${MAX_EXPANDED} subschemas once every $ref is expanded` }]
  if (walk.problems.length === 0 && size > WIDE && tracksEvaluated(schema))
    return [
      { path, message: `has more than ${WIDE} subschemas, too many for unevaluatedProperties or unevaluatedItems` },
    ]
  return walk.problems.slice(0, 20)
}

/** With more subschemas, some operations would take too long. */
export const WIDE = 300

/** Whether a schema asks which parts of a value were evaluated. */
export function tracksEvaluated(schema: JsonObject): boolean {
  return JSON.stringify(schema).includes('"unevaluated')
}

/** How many alternatives a value may be compared with, once every `$ref` is expanded. */
export function alternativesOf(schema: JsonObject): number {
  const counts = new Map<object, number>()
  const visit = (node: JsonValue | undefined): number => {
    if (typeof node !== 'object' || node === null) return 0
    const known = counts.get(node)
    if (known !== undefined) return known
    // A cycle counts once.
    counts.set(node, 0)
    let count = 0
    for (const [name, inner] of Object.entries(node)) {
      if (name === '$ref' && typeof inner === 'string') count += visit(pointedAt(schema, inner))
      else count += visit(inner) + (ALTERNATIVES.has(name) && Array.isArray(inner) ? inner.length : 0)
    }
    counts.set(node, count)
    return count
  }
  return visit(schema)
}

const ALTERNATIVES = new Set(['allOf', 'anyOf', 'oneOf'])

class Walk {
  private readonly patterns = new Patterns()
  readonly problems: ErrorDetail[] = []
  private readonly sizes = new Map<object, number>()
  private readonly open = new Set<object>()

  constructor(private readonly root: JsonObject) {}

  /** The number of subschemas a value can meet here. A referenced subschema counts each time it is referenced. */
  visit(node: JsonValue | undefined, path: string): number {
    if (!isJsonObject(node)) return 0
    const known = this.sizes.get(node)
    if (known !== undefined) return known
    if (this.open.has(node)) {
      this.problem(path, 'refers to itself; recursive schemas are not supported')
      return 0
    }
    this.open.add(node)
    for (const name of keywords(REFUSED))
      if (Object.hasOwn(node, name)) this.problem(`${path}.${name}`, 'is not supported')
    this.checkPatterns(node, path)
    for (const name of keywords(DEFINITIONS)) this.visitMap(own(node, name), `${path}.${name}`)
    let size = 1 + this.follow(node, path)
    for (const name of keywords(ONE)) size += this.visit(own(node, name), `${path}.${name}`)
    for (const name of keywords(MAP)) size += this.visitMap(own(node, name), `${path}.${name}`)
    for (const name of keywords(LIST)) {
      const list = own(node, name)
      if (Array.isArray(list)) for (const [i, item] of list.entries()) size += this.visit(item, `${path}.${name}[${i}]`)
    }
    this.open.delete(node)
    this.sizes.set(node, size)
    return size
  }

  private visitMap(map: JsonValue | undefined, path: string): number {
    if (!isJsonObject(map)) return 0
    return Object.entries(map).reduce((size, [name, item]) => size + this.visit(item, `${path}.${name}`), 0)
  }

  private follow(node: JsonObject, path: string): number {
    const ref = own(node, '$ref')
    if (ref === undefined) return 0
    if (typeof ref !== 'string' || !(ref === '#' || ref.startsWith('#/'))) {
      this.problem(`${path}.$ref`, 'must point into this schema, such as #/$defs/name')
      return 0
    }
    const target = pointedAt(this.root, ref)
    if (!isJsonObject(target) && typeof target !== 'boolean') {
      this.problem(`${path}.$ref`, 'points to nothing')
      return 0
    }
    return this.visit(target, `${path}.$ref`)
  }

  private checkPatterns(node: JsonObject, path: string): void {
    const pattern = own(node, 'pattern')
    if (typeof pattern === 'string') this.checkPattern(pattern, `${path}.pattern`)
    const named = own(node, 'patternProperties')
    if (isJsonObject(named)) for (const name of Object.keys(named)) this.checkPattern(name, `${path}.patternProperties`)
  }

  private checkPattern(pattern: string, path: string): void {
    if (pattern.length > MAX_PATTERN) {
      this.problem(path, `is longer than ${MAX_PATTERN} characters`)
      return
    }
    try {
      this.patterns.of(pattern)
    } catch (err) {
      if (err instanceof PatternTooCostly) this.problem(path, PATTERNS_TOO_COSTLY)
      else this.problem(path, 'is not a regular expression RE2 supports (no look-around, no back-references)')
    }
  }

  private problem(path: string, message: string): void {
    this.problems.push({ path, message })
  }
}

function pointedAt(root: JsonObject, ref: string): JsonValue | undefined {
  let at: JsonValue | undefined = root
  for (const part of ref.split('/').slice(1)) {
    let name: string
    try {
      name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    } catch {
      return undefined
    }
    if (Array.isArray(at)) at = /^\d{1,9}$/.test(name) ? at[Number(name)] : undefined
    else at = isJsonObject(at) ? own(at, name) : undefined
  }
  return at
}

/** What compiling all patterns of a schema may cost, about a tenth of a second: see `patternOf`. */
const MAX_TO_COMPILE = 2_500_000
const PATTERNS_TOO_COSTLY =
  'takes too long to compile, with the other patterns of the schema; use fewer, or simpler ones'

/** The patterns of one schema. */
class Patterns {
  private readonly known = new Map<string, Pattern>()
  private readonly effort = new Effort(MAX_TO_COMPILE)

  /** @throws PatternTooCostly, RE2JSException */
  of(text: string): Pattern {
    const pattern = this.known.get(text) ?? patternOf(RE2JS.translateRegExp(text), this.effort)
    this.known.set(text, pattern)
    return pattern
  }
}

/** Steps of all patterns in one validation: at worst about a tenth of a second of the service's time. */
const MAX_STEPS = 5_000_000

/** The patterns of a schema need more steps for a value than the service allows. */
export class PatternsTooSlow extends Error {
  override name = 'PatternsTooSlow'
}

let stepsLeft = Number.POSITIVE_INFINITY
let patterns = new Patterns()

/**
 * Limits the steps patterns may take while `validate` runs.
 * @throws PatternsTooSlow
 */
export function withinSteps<T>(validate: () => T): T {
  stepsLeft = MAX_STEPS
  try {
    return validate()
  } finally {
    stepsLeft = Number.POSITIVE_INFINITY
  }
}

/** Limits the cost of a schema's patterns while `compile` runs. */
export function withPatterns<T>(compile: () => T): T {
  patterns = new Patterns()
  return compile()
}

/**
 * A pattern that runs in time linear in the text, because RE2 does not backtrack. The time also depends on the size of
 * the pattern, so both count.
 * @throws PatternTooCostly, RE2JSException
 */
export function linearPattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const { find, states } = patterns.of(pattern)
  const test = (text: string) => {
    stepsLeft -= text.length * states
    if (stepsLeft < 0) throw new PatternsTooSlow()
    return find(text)
  }
  // ajv distinguishes patterns by this text.
  return { test, toString: () => `/${pattern}/` }
}
