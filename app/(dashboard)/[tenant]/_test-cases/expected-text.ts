import { type JsonValue, pathText } from '@/server/definition/json'
import type { Expected, ExpectedField } from '@/server/definition/test-case'

const MAX_CHARACTERS = 160

/** A test case's expectation in one line, worded so that it does not read as a result. */
export function expectedText(expected: Expected): string {
  return cut(`Expects: ${wordsOf(expected)}`)
}

function wordsOf(expected: Expected): string {
  switch (expected.kind) {
    case 'succeeds':
      return 'succeeds'
    case 'fails':
      return expected.code === undefined ? 'fails' : `fails with ${expected.code}`
    case 'equals':
      return `result is ${JSON.stringify(expected.value)}`
    case 'fields':
      return expected.fields.map(fieldText).join(', ')
    case 'contains':
      return `answer contains “${expected.text}”`
  }
}

export function fieldText({ path, value }: ExpectedField): string {
  return `${pathText(path)} is ${JSON.stringify(value)}`
}

function cut(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`
}

/** The maximum per test case. */
const MAX_FIELDS = 50

/** The values inside a result with their paths: texts, numbers and other scalars, and empty lists and objects. */
export function fieldsOf(value: JsonValue): ExpectedField[] {
  const found: ExpectedField[] = []
  const visit = (at: JsonValue, path: ExpectedField['path']) => {
    if (found.length >= MAX_FIELDS) return
    const inside: [string | number, JsonValue][] = Array.isArray(at)
      ? [...at.entries()]
      : typeof at === 'object' && at !== null
        ? Object.entries(at)
        : []
    if (inside.length === 0 && path.length > 0) found.push({ path, value: at })
    for (const [key, item] of inside) visit(item, [...path, key])
  }
  visit(value, [])
  return found
}
