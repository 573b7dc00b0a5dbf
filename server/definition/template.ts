import { isJsonObject, type JsonLike, type JsonObject, type JsonValue, jsonSize, own } from './json'
import { MAX_CONFIG_BYTES, readableSize } from './limits'
import { inexactReason } from './long-numbers'
import { isStepId, sameForm } from './step-id'

/**
 * `${path}` in step configuration: a path lookup over own properties, never code.
 * Grammar: `name(.name | [index] | ["any name"])*`, where the first name may also be in brackets, optionally `?? <JSON
 * literal>`; `${_}` is the root; `$${` is a literal `${`.
 */
export type Segment = string | number
export interface Reference {
  root: string
  path: Segment[]
  fallback: { value: JsonValue; inexact: string | null } | null
  source: string
  /** Where the root and each segment end in `source`. */
  ends: number[]
}
type Part = string | Reference

const NAME = /[A-Za-z_][\w-]*/y
const DOT = /\./y
const INDEX = /\[(\d{1,9})\]/y
const QUOTED = /\[("(?:[^"\\]|\\.)*")\]/y
const FORBIDDEN = new Set(['__proto__', 'prototype', 'constructor'])

/** The text is not a valid template. `forbidden` marks reserved names, which are refused even in a draft. */
export class TemplateSyntaxError extends Error {
  override name = 'TemplateSyntaxError'
  constructor(
    message: string,
    readonly forbidden = false,
  ) {
    // A definition may have thousands of these errors, each with its message: capturing the stack takes ten times as
    // long as everything else.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
  }
}

export class UnresolvedReference extends Error {
  override name = 'UnresolvedReference'
  constructor(readonly reference: string) {
    super(`\${${reference}} has no value`)
  }
}

/** Resolved, the template would be larger than allowed. */
export class TemplateTooLarge extends Error {
  override name = 'TemplateTooLarge'
  constructor(limit: number) {
    super(`With its values filled in, the configuration would be larger than ${readableSize(limit)}`)
  }
}

/** @throws TemplateSyntaxError */
export function parseTemplate(text: string): Part[] {
  const parts: Part[] = []
  let literal = ''
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('${', at)
    if (open === -1) break
    if (open > at && text[open - 1] === '$') {
      literal += `${text.slice(at, open - 1)}\${`
      at = open + 2
      continue
    }
    literal += text.slice(at, open)
    const close = closingBrace(text, open + 2)
    if (close === -1) throw new TemplateSyntaxError('"${" is never closed; write "$${" for a literal "${"')
    if (literal !== '') parts.push(literal)
    literal = ''
    parts.push(readReference(text.slice(open + 2, close)))
    at = close + 1
  }
  literal += text.slice(at)
  if (literal !== '' || parts.length === 0) parts.push(literal)
  return parts
}

/**
 * Every expression with its position, for code that renames fields: `start` is at `$`, `end` after `}`. Skips text that
 * cannot be parsed.
 */
export function expressionsIn(text: string): { start: number; end: number; reference: Reference }[] {
  const found: ReturnType<typeof expressionsIn> = []
  for (let open = text.indexOf('${'); open !== -1; ) {
    const escaped = open > 0 && text[open - 1] === '$'
    const close = escaped ? open + 1 : closingBrace(text, open + 2)
    if (close === -1) break
    if (!escaped) {
      try {
        found.push({ start: open, end: close + 1, reference: readReference(text.slice(open + 2, close)) })
      } catch (error) {
        if (!(error instanceof TemplateSyntaxError)) throw error
      }
    }
    open = text.indexOf('${', close + 1)
  }
  return found
}

/**
 * The reference whose `$` is at `start`, and its end: after `}`.
 * @throws TemplateSyntaxError
 */
export function referenceAt(text: string, start: number): { reference: Reference; end: number } {
  const close = closingBrace(text, start + 2)
  if (close === -1) throw new TemplateSyntaxError('"${" is never closed')
  return { reference: readReference(text.slice(start + 2, close)), end: close + 1 }
}

/** The brace that ends the expression; braces inside JSON strings of a fallback do not count. */
function closingBrace(text: string, from: number): number {
  let depth = 0
  let inString = false
  for (let i = from; i < text.length; i++) {
    const char = text[i]
    if (inString) {
      if (char === '\\') i++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{') depth++
    else if (char === '}' && depth-- === 0) return i
  }
  return -1
}

/**
 * The reference between `${` and `}`.
 * @throws TemplateSyntaxError
 */
export function readReference(raw: string): Reference {
  const source = raw.trim()
  return plainReference(source) ?? anyReference(source)
}

/** Names and dots, like nearly all references: a definition may have a hundred thousand of them. */
const PLAIN = /^([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)(?:\s*\?\?\s*(.+))?$/s

function plainReference(source: string): Reference | null {
  const [, names, literal] = PLAIN.exec(source) ?? []
  if (names === undefined) return null
  const [root = '', ...path] = names.split('.')
  if (FORBIDDEN.has(root) || path.some((name) => FORBIDDEN.has(name))) return null
  let end = root.length
  const ends = [end]
  for (const name of path) {
    end += name.length + 1
    ends.push(end)
  }
  const fallback = literal === undefined ? null : parseLiteral(literal, notAPath(source))
  return { root, path, fallback, source, ends }
}

const notAPath = (source: string) => (why: string) => new TemplateSyntaxError(`"\${${source}}" is not a path: ${why}`)

function anyReference(source: string): Reference {
  const ends: number[] = []
  let at = 0
  const bad = notAPath(source)
  const takes = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found) at = pattern.lastIndex
    return found
  }
  const segment = <S extends Segment>(found: S): S => {
    if (typeof found === 'string' && FORBIDDEN.has(found))
      throw new TemplateSyntaxError(`"\${${source}}" uses the reserved name ${found}`, true)
    ends.push(at)
    return found
  }
  const quoted = (): string | null => {
    const [, text] = takes(QUOTED) ?? []
    return text === undefined ? null : segment(readQuoted(text, bad))
  }
  const name = (): string => {
    const [found] = takes(NAME) ?? []
    if (found === undefined)
      throw bad('expected a name such as customer or customer.name; any other is written as ["7-days"]')
    return segment(found)
  }
  const root = sameForm(quoted() ?? name())
  const path: Segment[] = []
  for (;;) {
    const inBrackets = quoted()
    if (inBrackets !== null) path.push(inBrackets)
    else if (takes(DOT)) path.push(name())
    else {
      const [, index] = takes(INDEX) ?? []
      if (index === undefined) break
      path.push(segment(Number(index)))
    }
  }
  const rest = source.slice(at)
  const fallback = /^\s*\?\?\s*(.+)$/s.exec(rest)
  if (fallback) return { root, path, fallback: parseLiteral(fallback[1] ?? '', bad), source, ends }
  if (rest.trim() !== '') throw bad(`"${rest.trim()}" is not allowed here`)
  return { root, path, fallback: null, source, ends }
}

function readQuoted(text: string, bad: (why: string) => Error): string {
  try {
    return JSON.parse(text)
  } catch {
    throw bad(`${text} is not a JSON string`)
  }
}

/** A path as templates write it: `order.lines[0]["unit price"]`. */
export function referenceText([root, ...path]: readonly [string, ...Segment[]]): string {
  const rest = path.map((segment) => {
    if (typeof segment === 'number') return `[${segment}]`
    return isPlainName(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`
  })
  return `${isPlainName(root) ? root : `[${JSON.stringify(root)}]`}${rest.join('')}`
}

/** Whether templates can refer to it at all. */
export function isNameable(name: string): boolean {
  return !FORBIDDEN.has(name)
}

/** Whether templates can write a name without brackets. */
export function isPlainName(name: string): boolean {
  NAME.lastIndex = 0
  return NAME.exec(name)?.[0] === name
}

/** A name as messages write it: in quotes where it would not stand out from the text around it. */
export function shownName(name: string): string {
  return isStepId(name) ? name : JSON.stringify(name)
}

/** With the problem of a number in it, if any: runs of versions older than that check use the number as it is. */
function parseLiteral(text: string, bad: (why: string) => Error): Reference['fallback'] {
  try {
    return { value: JSON.parse(text), inexact: inexactReason(text) }
  } catch {
    throw bad('the fallback after ?? must be a JSON literal such as "none", 0 or null')
  }
}

/** Finds the value a path starts from; undefined if none exists. `_` is looked up like any other name. */
export type Lookup = (root: string) => JsonValue | undefined

export function lookupIn(root: JsonValue): Lookup {
  return (name) => (name === '_' ? root : isJsonObject(root) ? own(root, name) : undefined)
}

/**
 * Counts the size of a result before it is built: a large value used a thousand times would fill the memory. Each value
 * is measured once, however often it is used.
 */
export class TemplateMeter {
  private left: number
  private readonly sizes = new Map<JsonValue, number>()
  private readonly texts = new Map<JsonValue, string>()

  constructor(private readonly limit = MAX_CONFIG_BYTES) {
    this.left = limit
  }

  /** @throws TemplateTooLarge */
  count(value: JsonValue): void {
    const size = this.sizes.get(value) ?? jsonSize(value)
    this.sizes.set(value, size)
    this.spend(size)
  }

  /**
   * The value as text; counts its size.
   * @throws TemplateTooLarge
   */
  text(value: JsonValue): string {
    const known = this.texts.get(value)
    const text = known ?? asText(value)
    if (known === undefined && typeof value === 'object') this.texts.set(value, text)
    this.count(text)
    return text
  }

  /** @throws TemplateTooLarge */
  spend(size: number): void {
    this.left -= size
    if (this.left < 0) throw new TemplateTooLarge(this.limit)
  }
}

/**
 * Resolves every leaf of a configuration. A string that is a single expression keeps the value's type; inside other
 * text, values become text. Does not change its argument.
 * @throws UnresolvedReference, TemplateSyntaxError, TemplateTooLarge
 */
export function resolveTemplates(value: JsonObject, lookup: Lookup, meter?: TemplateMeter): JsonObject
export function resolveTemplates(value: JsonValue, lookup: Lookup, meter?: TemplateMeter): JsonValue
export function resolveTemplates(value: JsonValue, lookup: Lookup, meter = new TemplateMeter()): JsonValue {
  if (typeof value === 'string' && value.includes('${')) return resolveText(value, lookup, meter)
  if (Array.isArray(value)) {
    meter.spend(value.length + 2)
    return value.map((item) => resolveTemplates(item, lookup, meter))
  }
  if (isJsonObject(value)) {
    meter.spend(2)
    const entries = Object.entries(value).map(([key, item]) => {
      meter.spend(jsonSize(key) + 2)
      return [key, resolveTemplates(item, lookup, meter)]
    })
    return Object.fromEntries(entries)
  }
  meter.count(value)
  return value
}

function resolveText(text: string, lookup: Lookup, meter: TemplateMeter): JsonValue {
  const parts = parseTemplate(text)
  const [only] = parts
  if (parts.length > 1 || only === undefined) return fillParts(parts, lookup, meter)
  const value = typeof only === 'string' ? only : follow(only, lookup)
  meter.count(value)
  return value
}

/**
 * Resolves a template to text.
 * @throws UnresolvedReference, TemplateSyntaxError, TemplateTooLarge
 */
export function fillText(template: string, lookup: Lookup, meter = new TemplateMeter()): string {
  return fillParts(parseTemplate(template), lookup, meter)
}

function fillParts(parts: Part[], lookup: Lookup, meter: TemplateMeter): string {
  return parts.map((part) => meter.text(typeof part === 'string' ? part : follow(part, lookup))).join('')
}

/**
 * The value a reference points to.
 * @throws UnresolvedReference
 */
export function follow(reference: Reference, lookup: Lookup): JsonValue {
  const value = foundAt(reference, lookup)
  if (value !== undefined && !(value === null && reference.fallback)) return value
  if (reference.fallback) return reference.fallback.value
  throw new UnresolvedReference(reference.source)
}

/** The value at a path, ignoring its fallback; undefined without one. */
export function foundAt({ root, path }: Reference, lookup: Lookup): JsonValue | undefined {
  let value = lookup(root)
  for (const segment of path) {
    if (value === undefined) break
    if (typeof segment === 'number') value = Array.isArray(value) ? value[segment] : undefined
    else value = isJsonObject(value) ? own(value, segment) : undefined
  }
  return value
}

/** A value inside text: objects as JSON, null as an empty text. */
export function asText(value: JsonValue): string {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Every reference in a configuration with its position, and every invalid template. */
export function findReferences(
  value: JsonLike,
  path = '',
): { references: { path: string; reference: Reference }[]; problems: { path: string; error: TemplateSyntaxError }[] } {
  const found: ReturnType<typeof findReferences> = { references: [], problems: [] }
  const visit = (item: JsonLike, at: string): void => {
    if (typeof item === 'string') {
      if (!item.includes('${')) return
      try {
        for (const part of parseTemplate(item))
          if (typeof part !== 'string') {
            found.references.push({ path: at, reference: part })
            const inexact = part.fallback?.inexact
            if (inexact) found.problems.push({ path: at, error: new TemplateSyntaxError(inexact) })
          }
      } catch (error) {
        if (!(error instanceof TemplateSyntaxError)) throw error
        found.problems.push({ path: at, error })
      }
    } else if (Array.isArray(item)) for (const [i, child] of item.entries()) visit(child, `${at}[${i}]`)
    else if (isJsonObject(item))
      for (const [key, child] of Object.entries(item)) visit(child, at === '' ? key : `${at}.${key}`)
  }
  visit(value, path)
  return found
}
