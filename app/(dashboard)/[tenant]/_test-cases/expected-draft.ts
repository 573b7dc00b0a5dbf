import { type JsonValue, pathText } from '@/server/definition/json'
import type { Expected, ExpectedField } from '@/server/definition/test-case'

/** What a test case expects, as a form has it: each kind with what was last typed for it. */
export interface ExpectedDraft {
  kind: Expected['kind']
  code: string
  value: string
  text: string
  fields: { path: ExpectedField['path']; text: string }[]
}

export function draftOf(expected: Expected): ExpectedDraft {
  return {
    kind: expected.kind,
    code: expected.kind === 'fails' ? (expected.code ?? '') : '',
    value: expected.kind === 'equals' ? JSON.stringify(expected.value, null, 2) : '',
    text: expected.kind === 'contains' ? expected.text : '',
    fields:
      expected.kind === 'fields'
        ? expected.fields.map(({ path, value }) => ({ path, text: JSON.stringify(value) }))
        : [],
  }
}

type Read = { expected: Expected } | { problem: { at: string; text: string } }

/** What the form says, or the first thing that is wrong, with its place. */
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
      return read === undefined ? wrong('value', 'This is not JSON') : { expected: { kind, value: read } }
    }
    case 'fields': {
      const found: ExpectedField[] = []
      for (const field of fields) {
        const read = parse(field.text)
        if (read === undefined) return wrong(pathText(field.path), 'This is not JSON. Put text in quotes')
        found.push({ path: field.path, value: read })
      }
      return { expected: { kind, fields: found } }
    }
  }
}

function wrong(at: string, text: string): Read {
  return { problem: { at, text } }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
