import { isDeepStrictEqual } from 'node:util'

/**
 * The subset of CEL that triggers, waits and keys may use: paths, literals, `==`, `!=` and `&&`. Anything else throws,
 * because a misread expression would wake the wrong run.
 */
export type Operand = { path: string[] } | { value: unknown }
export interface Comparison {
  left: Operand
  op: '==' | '!='
  right: Operand
}

export class ExpressionError extends Error {
  override name = 'ExpressionError'
}

/** Paths and literals longer than this are compared, but not indexed. */
const INDEXED_LENGTH = 200
const INDEXED_DEPTH = 3

const TOKEN =
  /\s*(?:(==|!=|&&|\.|\[|\])|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?\d+(?:\.\d+)?)|([A-Za-z_][A-Za-z0-9_]*))/y

type Token = { kind: 'symbol' | 'string' | 'number' | 'name'; text: string }

function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < source.trimEnd().length) {
    const at = TOKEN.lastIndex
    const found = TOKEN.exec(source)
    if (!found) throw new ExpressionError(`Not supported in an expression: ${source.slice(at).trim().slice(0, 40)}`)
    const [, symbol, string, number, name] = found
    if (symbol !== undefined) tokens.push({ kind: 'symbol', text: symbol })
    else if (string !== undefined) tokens.push({ kind: 'string', text: unquote(string) })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number })
    else tokens.push({ kind: 'name', text: name ?? '' })
  }
  return tokens
}

function unquote(text: string): string {
  const inner = text.slice(1, -1)
  return inner.replace(/\\(.)/g, (_, escaped: string) => {
    const plain = { n: '\n', t: '\t', r: '\r', '"': '"', "'": "'", '\\': '\\' }[escaped]
    if (plain === undefined) throw new ExpressionError(`Not supported in a string: \\${escaped}`)
    return plain
  })
}

/** Parses a whole `if`. `roots` are the variables it may use. */
export function parseExpression(source: string, roots: readonly string[]): Comparison[] {
  const reader = new Reader(tokenize(source), roots)
  const comparisons: Comparison[] = []
  do {
    const left = reader.operand()
    const op = reader.take('==') ? '==' : reader.take('!=') ? '!=' : undefined
    comparisons.push(op ? { left, op, right: reader.operand() } : { left, op: '==', right: { value: true } })
  } while (reader.take('&&'))
  reader.end()
  return comparisons
}

/** Parses an expression for a single value: a path or a literal (concurrency and idempotency keys). */
export function parseKey(source: string): Operand {
  const reader = new Reader(tokenize(source), ['event'])
  const operand = reader.operand()
  reader.end()
  return operand
}

/** Reads the tokens of one expression in order. */
class Reader {
  private at = 0

  constructor(
    private readonly tokens: readonly Token[],
    private readonly roots: readonly string[],
  ) {}

  take(symbol: string): boolean {
    const token = this.tokens[this.at]
    if (token?.kind !== 'symbol' || token.text !== symbol) return false
    this.at++
    return true
  }

  operand(): Operand {
    const token = this.tokens[this.at++]
    if (!token) throw new ExpressionError('The expression ends too early')
    if (token.kind === 'string') return { value: token.text }
    if (token.kind === 'number') return { value: Number(token.text) }
    if (token.kind === 'symbol') throw new ExpressionError(`Not supported in an expression: ${token.text}`)
    if (token.text === 'true' || token.text === 'false') return { value: token.text === 'true' }
    if (token.text === 'null') return { value: null }
    if (!this.roots.includes(token.text)) throw new ExpressionError(`Unknown name in an expression: ${token.text}`)
    return { path: [token.text, ...this.segments()] }
  }

  end(): void {
    const token = this.tokens[this.at]
    if (token) throw new ExpressionError(`Not supported in an expression: ${token.text}`)
  }

  private segments(): string[] {
    const found: string[] = []
    while (true) {
      if (this.take('.')) {
        const name = this.tokens[this.at++]
        if (name?.kind !== 'name') throw new ExpressionError('A name must follow the dot')
        found.push(name.text)
      } else if (this.take('[')) {
        const key = this.tokens[this.at++]
        if (key?.kind !== 'string' && key?.kind !== 'number') throw new ExpressionError('A key must follow the bracket')
        if (!this.take(']')) throw new ExpressionError('The bracket is not closed')
        found.push(key.text)
      } else return found
    }
  }
}

type Scope = Record<string, unknown>
type Found = { value: unknown } | undefined

/** The value of an operand; undefined if missing: CEL treats that as an error, so nothing matches. */
export function read(operand: Operand, scope: Scope): Found {
  if ('value' in operand) return operand
  let value: unknown = scope
  for (const segment of operand.path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined
    value = (value as Scope)[segment]
  }
  return value === undefined ? undefined : { value }
}

export function matches(comparisons: readonly Comparison[], scope: Scope): boolean {
  return comparisons.every(({ left, op, right }) => {
    const a = read(left, scope)
    const b = read(right, scope)
    return a !== undefined && b !== undefined && isDeepStrictEqual(a.value, b.value) === (op === '==')
  })
}

/** Replaces paths into the run's own event with their values, so that only `async.*` stays open. */
export function bind(comparisons: readonly Comparison[], event: unknown): Comparison[] {
  const fixed = (operand: Operand): Operand => {
    if ('value' in operand || operand.path[0] !== 'event') return operand
    // A missing key stays a path. It never resolves to a value, so it never matches.
    return read(operand, { event }) ?? operand
  }
  return comparisons.map(({ left, op, right }) => ({ left: fixed(left), op, right: fixed(right) }))
}

function token(segments: readonly string[], value: unknown): string | undefined {
  const scalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  if (!scalar || segments.length > INDEXED_DEPTH) return undefined
  const text = `${JSON.stringify(segments)}=${JSON.stringify(value)}`
  return text.length <= INDEXED_LENGTH ? text : undefined
}

/** Splits bound comparisons into the one equality that an index can find, and the rest. */
export function indexed(comparisons: readonly Comparison[]): { token: string; rest: Comparison[] } {
  for (const comparison of comparisons) {
    if (comparison.op !== '==') continue
    for (const [a, b] of [
      [comparison.left, comparison.right],
      [comparison.right, comparison.left],
    ] as const) {
      if (!('path' in a) || !('value' in b) || a.path[0] !== 'async' || a.path[1] !== 'data') continue
      const found = token(a.path.slice(2), b.value)
      if (found) return { token: found, rest: comparisons.filter((c) => c !== comparison) }
    }
  }
  return { token: '', rest: [...comparisons] }
}

/** All tokens under which a wait for an event with this data may be stored. */
export function tokensOf(data: unknown): string[] {
  const found = ['']
  const visit = (value: unknown, segments: string[]): void => {
    const own = token(segments, value)
    if (own) found.push(own)
    if (typeof value !== 'object' || value === null || segments.length >= INDEXED_DEPTH) return
    for (const [key, inner] of Object.entries(value)) visit(inner, [...segments, key])
  }
  visit(data, [])
  return found
}
