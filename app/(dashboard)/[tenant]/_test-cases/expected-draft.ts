import { type JsonValue, pathText } from '@/server/definition/json'
import { InexactNumber, parseExact } from '@/server/definition/long-numbers'
import type { Expected, ExpectedField } from '@/server/definition/test-case'

/** A field by its original value's type: text is typed as it is, other values as JSON. */
interface ExpectedFieldDraft {
  path: ExpectedField['path']
  type: 'text' | 'number' | 'json'
  text: string
}

/** A test case's expectation as a form: each kind with its last typed input. */
export interface ExpectedDraft {
  kind: Expected['kind']
  code: string
  value: string
  text: string
  fields: ExpectedFieldDraft[]
}

export function draftOf(expected: Expected): ExpectedDraft {
  return {
    kind: expected.kind,
    code: expected.kind === 'fails' ? (expected.code ?? '') : '',
    value: expected.kind === 'equals' ? JSON.stringify(expected.value, null, 2) : '',
    text: expected.kind === 'contains' ? expected.text : '',
    fields:
      expected.kind === 'fields' ? expected.fields.map(({ path, value }) => ({ path, ...typedValue(value) })) : [],
  }
}

function typedValue(value: JsonValue): Omit<ExpectedFieldDraft, 'path'> {
  if (typeof value === 'string') return { type: 'text', text: value }
  return { type: typeof value === 'number' ? 'number' : 'json', text: JSON.stringify(value) }
}

const NO_NUMBER = 'This must be a number, or text in quotes'
const NO_JSON = 'This is not JSON. Put text in quotes'

type Read = { expected: Expected } | { problem: { at: string; text: string } }

/** The form's expectation, or its first problem with its place. */
export function readExpected({ kind, code, value, text, fields }: ExpectedDraft): Read {
  switch (kind) {
    case 'succeeds':
      return { expected: { kind } }
    case 'fails':
      return { expected: code.trim() === '' ? { kind } : { kind, code: code.trim() } }
    case 'contains':
      return text.trim() === '' ? wrong('text', 'Enter a text') : { expected: { kind, text: text.trim() } }
    case 'equals': {
      const read = parse(value)
      if (read instanceof InexactNumber) return wrong('value', read.message)
      return read === undefined ? wrong('value', 'This is not JSON') : { expected: { kind, value: read } }
    }
    case 'fields': {
      const found: ExpectedField[] = []
      for (const field of fields) {
        const read = field.type === 'text' ? field.text : parse(field.text)
        if (read instanceof InexactNumber) return wrong(pathText(field.path), read.message)
        if (read === undefined) return wrong(pathText(field.path), field.type === 'number' ? NO_NUMBER : NO_JSON)
        found.push({ path: field.path, value: read })
      }
      return { expected: { kind, fields: found } }
    }
  }
}

function wrong(at: string, text: string): Read {
  return { problem: { at, text } }
}

function parse(text: string): JsonValue | InexactNumber | undefined {
  try {
    return parseExact(text)
  } catch (error) {
    return error instanceof InexactNumber ? error : undefined
  }
}
