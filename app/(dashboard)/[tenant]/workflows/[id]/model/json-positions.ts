// Ours: jsonc-parser accepts names that repeat and numbers that lose digits, and overflows the stack on deep nesting.

import type { JsonValue } from '@/server/definition/json'
import { InexactNumber, isInexact } from '@/server/definition/long-numbers'

interface Span {
  from: number
  to: number
}

/** Parsed JSON with the position of each value, by its path as in problems (`steps[2].args.to`). */
export type LocatedJson = { value: JsonValue; at: ReadonlyMap<string, Span> } | { problem: string; span: Span }

class JsonProblem extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message)
  }
}

const MAX_DEPTH = 200

/** Parses like `JSON.parse` and records positions. Browsers word errors differently and often give no position. */
export function locateJson(text: string): LocatedJson {
  const reader = new Reader(text)
  try {
    const value = reader.value('', 0)
    reader.space()
    if (reader.at < text.length) throw new JsonProblem('Unexpected text after the value.', reader.at)
    return { value, at: reader.spans }
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error
    const from = Math.min(error.at, text.length)
    return { problem: error.message, span: { from, to: Math.min(from + 1, text.length) } }
  }
}

class Reader {
  at = 0
  readonly spans = new Map<string, Span>()

  constructor(private readonly text: string) {}

  value(path: string, depth: number): JsonValue {
    this.space()
    if (depth > MAX_DEPTH) throw new JsonProblem('Nested too deeply.', this.at)
    const from = this.at
    const char = this.text[from]
    const value =
      char === '{'
        ? this.object(path, depth)
        : char === '['
          ? this.list(path, depth)
          : char === '"'
            ? this.string()
            : this.literal()
    this.spans.set(path, { from, to: this.at })
    return value
  }

  space(): void {
    while (/[ \t\r\n]/.test(this.text[this.at] ?? '')) this.at++
  }

  private object(path: string, depth: number): JsonValue {
    const entries: [string, JsonValue][] = []
    this.at++
    for (this.space(); this.text[this.at] !== '}'; this.space()) {
      if (entries.length > 0) this.expect(',', 'Expected a comma or }.')
      this.space()
      if (this.text[this.at] !== '"') throw new JsonProblem('Expected a name in double quotes.', this.at)
      const at = this.at
      const key = this.string()
      if (entries.some(([known]) => known === key)) throw new JsonProblem(`Duplicate name: ${key}`, at)
      this.space()
      this.expect(':', 'Expected a colon.')
      entries.push([key, this.value(path === '' ? key : `${path}.${key}`, depth + 1)])
    }
    this.at++
    return Object.fromEntries(entries)
  }

  private list(path: string, depth: number): JsonValue {
    const items: JsonValue[] = []
    this.at++
    for (this.space(); this.text[this.at] !== ']'; this.space()) {
      if (items.length > 0) this.expect(',', 'Expected a comma or ].')
      items.push(this.value(`${path}[${items.length}]`, depth + 1))
    }
    this.at++
    return items
  }

  private string(): string {
    const found = /"(?:[^"\\\n\r]|\\.)*"/y
    found.lastIndex = this.at
    const match = found.exec(this.text)
    if (!match) throw new JsonProblem('The closing quote is missing.', this.at)
    const value = this.native<string>(match[0], 'JSON does not allow a character or escape in this text.')
    this.at += match[0].length
    return value
  }

  private literal(): JsonValue {
    const found = /[^\s,\]}:[{"]+/y
    found.lastIndex = this.at
    const match = found.exec(this.text)
    if (!match) throw new JsonProblem('Expected a value.', this.at)
    if (isInexact(match[0])) throw new JsonProblem(new InexactNumber({ path: '', literal: match[0] }).message, this.at)
    const value = this.native<JsonValue>(match[0], `${match[0].slice(0, 20)} is not a JSON value.`)
    this.at += match[0].length
    return value
  }

  private native<T>(source: string, otherwise: string): T {
    try {
      return JSON.parse(source) as T
    } catch {
      throw new JsonProblem(otherwise, this.at)
    }
  }

  private expect(char: string, otherwise: string): void {
    if (this.text[this.at] !== char) throw new JsonProblem(otherwise, this.at)
    this.at++
  }
}

/** The position of a path, or of its nearest parent in the text. */
export function spanOf(at: ReadonlyMap<string, Span>, path: string): Span {
  for (let known = path; known !== ''; ) {
    const span = at.get(known)
    if (span) return span
    const parent = known.replace(/(\.[^.[\]]*|\[\d+\])$/, '')
    known = parent === known ? '' : parent
  }
  return { from: 0, to: 1 }
}
