import type { JsonValue } from '@/server/definition/json'

interface Span {
  from: number
  to: number
}

/** A JSON text with where each value stands, by its path as problems write it (`steps[2].args.to`). */
export type Located = { value: JsonValue; at: ReadonlyMap<string, Span> } | { problem: string; span: Span }

class Wrong extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message)
  }
}

const MAX_DEPTH = 200

/** Parses as `JSON.parse` does, and says where what stands: what browsers say of errors differs and names no place. */
export function locateJson(text: string): Located {
  const reader = new Reader(text)
  try {
    const value = reader.value('', 0)
    reader.space()
    if (reader.at < text.length) throw new Wrong('Nothing may follow the value.', reader.at)
    return { value, at: reader.places }
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    const from = Math.min(error.at, text.length)
    return { problem: error.message, span: { from, to: Math.min(from + 1, text.length) } }
  }
}

class Reader {
  at = 0
  readonly places = new Map<string, Span>()

  constructor(private readonly text: string) {}

  value(path: string, depth: number): JsonValue {
    this.space()
    if (depth > MAX_DEPTH) throw new Wrong('This is nested too deep.', this.at)
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
    this.places.set(path, { from, to: this.at })
    return value
  }

  space(): void {
    while (/[ \t\r\n]/.test(this.text[this.at] ?? '')) this.at++
  }

  private object(path: string, depth: number): JsonValue {
    const entries: [string, JsonValue][] = []
    this.at++
    for (this.space(); this.text[this.at] !== '}'; this.space()) {
      if (entries.length > 0) this.expect(',', 'A comma or } is missing here.')
      this.space()
      if (this.text[this.at] !== '"') throw new Wrong('A name in double quotes is missing here.', this.at)
      const at = this.at
      const key = this.string()
      if (entries.some(([known]) => known === key)) throw new Wrong(`${key} is there twice.`, at)
      this.space()
      this.expect(':', 'A colon is missing here.')
      entries.push([key, this.value(path === '' ? key : `${path}.${key}`, depth + 1)])
    }
    this.at++
    return Object.fromEntries(entries)
  }

  private list(path: string, depth: number): JsonValue {
    const items: JsonValue[] = []
    this.at++
    for (this.space(); this.text[this.at] !== ']'; this.space()) {
      if (items.length > 0) this.expect(',', 'A comma or ] is missing here.')
      items.push(this.value(`${path}[${items.length}]`, depth + 1))
    }
    this.at++
    return items
  }

  private string(): string {
    const found = /"(?:[^"\\\n\r]|\\.)*"/y
    found.lastIndex = this.at
    const match = found.exec(this.text)
    if (!match) throw new Wrong('This text is not closed.', this.at)
    const value = this.native<string>(match[0], 'This text has a character or an escape that JSON does not allow.')
    this.at += match[0].length
    return value
  }

  private literal(): JsonValue {
    const found = /[^\s,\]}:[{"]+/y
    found.lastIndex = this.at
    const match = found.exec(this.text)
    if (!match) throw new Wrong('A value is missing here.', this.at)
    const value = this.native<JsonValue>(match[0], `${match[0].slice(0, 20)} is no JSON value.`)
    this.at += match[0].length
    return value
  }

  private native<T>(source: string, otherwise: string): T {
    try {
      return JSON.parse(source) as T
    } catch {
      throw new Wrong(otherwise, this.at)
    }
  }

  private expect(char: string, otherwise: string): void {
    if (this.text[this.at] !== char) throw new Wrong(otherwise, this.at)
    this.at++
  }
}

/** Where a path stands, or the nearest part of it that is there. */
export function spanOf(at: ReadonlyMap<string, Span>, path: string): Span {
  for (let known = path; known !== ''; ) {
    const span = at.get(known)
    if (span) return span
    const parent = known.replace(/(\.[^.[\]]*|\[\d+\])$/, '')
    known = parent === known ? '' : parent
  }
  return { from: 0, to: 1 }
}
