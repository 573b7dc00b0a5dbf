import { limitProblem } from './field-limits'
import { isFileList } from './file-fields'
import { isFileReference } from './file-ids'
import { type JsonObject, type JsonValue, own, typeName } from './json'
import { TOO_LARGE_TO_BE_EXACT } from './long-numbers'
import type { Field, Fields } from './schema'
import { looksLike } from './spellings'

interface FieldProblem {
  [key: string]: string
  path: string
  message: string
}

/** A field is required unless it has `required: false` or a `default`. */
export function isRequired(field: Pick<Field, 'required' | 'default'>): boolean {
  return field.required !== false && field.default === undefined
}

/** Checks the declared fields of `values` and drops the others. */
export function checkFields(fields: Fields, values: JsonObject): { data: JsonObject; details: FieldProblem[] } {
  const data: JsonObject = {}
  const details: FieldProblem[] = []
  for (const [name, field] of Object.entries(fields)) {
    const value = own(values, name)
    if (value === undefined) {
      if (field.default !== undefined) data[name] = field.default
      else if (isRequired(field)) details.push({ path: name, message: `${name} is required` })
      continue
    }
    const problem = checkField(field, value)
    if (problem) details.push({ path: name, message: `${name} ${problem}` })
    else data[name] = optionOf(field, value) ?? value
  }
  return { data, details }
}

/** Problems with those declared fields that `values` has. */
export function checkGiven(fields: Fields, values: JsonObject): FieldProblem[] {
  const given = Object.entries(fields).filter(([name]) => Object.hasOwn(values, name))
  return checkFields(Object.fromEntries(given), values).details
}

function checkField(field: Field, value: JsonValue): string | null {
  if (field.type === 'integer' && Number.isInteger(value) && !Number.isSafeInteger(value)) return TOO_LARGE_TO_BE_EXACT
  if (!hasType(field, value)) return `must be ${article(field.type)}, not ${typeName(value)}`
  if (isFileList(field) && !(Array.isArray(value) && value.every(isFileReference)))
    return 'must be a list of file references (UUIDs)'
  if (field.options && optionOf(field, value) === undefined) {
    return `must be one of ${field.options.map((option) => JSON.stringify(option)).join(', ')}`
  }
  return limitProblem(field, value)
}

/** The field's option that equals a value: an accent may be part of its letter or a separate character. */
function optionOf({ options }: Field, value: JsonValue): JsonValue | undefined {
  return options?.find((option) => looksLike(JSON.stringify(option), JSON.stringify(value)))
}

function hasType(field: Field, value: JsonValue): boolean {
  switch (field.type) {
    case 'any':
      return true
    case 'integer':
      return Number.isSafeInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'file':
      return isFileReference(value)
    default:
      return typeof value === field.type
  }
}

function article(type: string): string {
  if (type === 'file') return 'a file reference (UUID)'
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`
}
