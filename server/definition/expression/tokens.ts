import type { JsonValue } from '../json'
import { referenceAt, TemplateSyntaxError } from '../template'

/** A token of an expression. `at` is its position in the text. */
export type Token = { at: number; text: string } & (
  | { kind: 'operator' | 'name' | 'reference' }
  | { kind: 'value'; value: JsonValue }
)

const SPACE = /\s+/y
const NUMBER = /(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y
const DOUBLE = /"(?:[^"\\\n]|\\.)*"/y
const SINGLE = /'(?:[^'\\\n]|\\.)*'/y
const NAME = /[A-Za-z_]\w*/y
const OPERATOR = /\|\||&&|==|!=|<=|>=|[<>+\-*/%!?:()[\],=]/y
const WORDS: Record<string, JsonValue> = { true: true, false: false, null: null }

/** @throws TemplateSyntaxError */
export function tokens(text: string): Token[] {
  const found: Token[] = []
  for (let at = 0; at < text.length; ) {
    const space = match(SPACE, text, at)
    if (space !== null) {
      at += space.length
      continue
    }
    const token = text.startsWith('${', at)
      ? { kind: 'reference' as const, at, text: text.slice(at, referenceAt(text, at).end) }
      : (literal(text, at) ?? word(text, at))
    if (!token)
      throw new TemplateSyntaxError(`"${[...text.slice(at)][0]}" is not allowed here (at character ${at + 1})`)
    found.push(token)
    at += token.text.length
  }
  return found
}

function literal(text: string, at: number): Token | null {
  const number = match(NUMBER, text, at)
  if (number !== null) return { kind: 'value', at, text: number, value: Number(number) }
  const double = match(DOUBLE, text, at)
  if (double !== null) return { kind: 'value', at, text: double, value: unquoted(double, at) }
  const single = match(SINGLE, text, at)
  if (single !== null) {
    const inner = single.slice(1, -1).replace(/\\'|"/g, (found) => (found === '"' ? '\\"' : "'"))
    return { kind: 'value', at, text: single, value: unquoted(`"${inner}"`, at) }
  }
  if (text[at] === '"' || text[at] === "'")
    throw new TemplateSyntaxError(`The string that starts at character ${at + 1} is never closed`)
  return null
}

function unquoted(json: string, at: number): string {
  try {
    return JSON.parse(json)
  } catch {
    throw new TemplateSyntaxError(`The string at character ${at + 1} has an escape that JSON does not know`)
  }
}

function word(text: string, at: number): Token | null {
  const name = match(NAME, text, at)
  if (name === 'in') return { kind: 'operator', at, text: name }
  if (name !== null) {
    return Object.hasOwn(WORDS, name)
      ? { kind: 'value', at, text: name, value: WORDS[name] ?? null }
      : { kind: 'name', at, text: name }
  }
  const operator = match(OPERATOR, text, at)
  return operator === null ? null : { kind: 'operator', at, text: operator }
}

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}
