import type { JsonValue } from '@/server/definition/json'
import type { FieldType } from '@/server/definition/schema'
import { OPERATORS, type Operator, type Test, type Value } from './rule'

/** What a rule knows of a field: how its values compare. */
export type Kind = 'text' | 'number' | 'boolean' | 'date' | 'choice' | 'list' | 'object' | 'any'

const PRESENCE: Operator[] = ['exists', 'missing']
const ORDERED: Operator[] = ['is', 'isNot', 'less', 'atMost', 'more', 'atLeast']

const OFFERED: Record<Kind, readonly Operator[]> = {
  text: ['is', 'isNot', 'contains', 'lacks', 'starts', 'ends', 'oneOf', 'noneOf', ...PRESENCE],
  number: [...ORDERED, 'oneOf', 'noneOf', ...PRESENCE],
  boolean: ['is', ...PRESENCE],
  date: [...ORDERED, ...PRESENCE],
  choice: ['is', 'isNot', 'oneOf', 'noneOf', ...PRESENCE],
  list: ['includes', 'excludes', 'empty', 'filled', 'sizeAtLeast', 'sizeAtMost', ...PRESENCE],
  object: PRESENCE,
  any: [...ORDERED, 'contains', 'lacks', 'starts', 'ends', 'oneOf', 'noneOf', 'includes', 'excludes', ...PRESENCE],
}

/** Texts have an order, too, but most comparisons by order are of numbers. */
const BY_ORDER: readonly Operator[] = ['less', 'atMost', 'more', 'atLeast']

const WORDS: Record<Operator, string> = {
  is: 'is',
  isNot: 'is not',
  less: 'is less than',
  atMost: 'is at most',
  more: 'is more than',
  atLeast: 'is at least',
  oneOf: 'is one of',
  noneOf: 'is none of',
  contains: 'contains',
  lacks: 'does not contain',
  starts: 'starts with',
  ends: 'ends with',
  includes: 'includes',
  excludes: 'does not include',
  empty: 'is empty',
  filled: 'is not empty',
  sizeAtLeast: 'has at least this many items',
  sizeAtMost: 'has at most this many items',
  exists: 'has a value',
  missing: 'has no value',
}
const OF_DATES: Partial<Record<Operator, string>> = {
  less: 'is before',
  atMost: 'is on or before',
  more: 'is after',
  atLeast: 'is on or after',
}

/** The operators to offer for a field, with its current one even if that does not fit. */
export function operatorsOf(kind: Kind, current: Operator): { value: Operator; label: string }[] {
  const offered = OFFERED[kind]
  return [...(offered.includes(current) ? [] : [current]), ...offered].map((value) => ({
    value,
    label: (kind === 'date' ? OF_DATES[value] : undefined) ?? WORDS[value],
  }))
}

const DATE = /^\d{4}-\d{2}-\d{2}$/

export function kindOf(type: FieldType, choices: readonly JsonValue[] | undefined, last: string | null): Kind {
  if (choices !== undefined && choices.length > 0 && type !== 'array') return 'choice'
  if (type === 'string') return last !== null && DATE.test(last.replaceAll('"', '')) ? 'date' : 'text'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'array') return 'list'
  if (type === 'file') return 'text'
  return type === 'boolean' || type === 'object' ? type : 'any'
}

/** The kind of an unknown field, from the value it is compared with. */
export function kindOfValue(value: Value): Kind {
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'string') return DATE.test(value) ? 'date' : 'text'
  return 'any'
}

/** What the value of a field of unknown type is: what it was, or a number where the operator suggests one. */
export function kindOfAny({ operator, value }: Test): 'text' | 'number' | 'boolean' {
  if (value === null) return BY_ORDER.includes(operator) ? 'number' : 'text'
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text'
}

/** The test with another operator, and its value as far as that fits. */
export function withOperator(test: Test, operator: Operator, kind: Kind): Test {
  const takes = OPERATORS[operator]
  const value = kind === 'any' && BY_ORDER.includes(operator) ? asNumber(test.value) : test.value
  if (takes === 'nothing') return { ...test, operator, value: null }
  if (takes === 'count') return { ...test, operator, value: typeof value === 'number' ? value : 1 }
  const [first = null] = Array.isArray(value) ? value : [value]
  if (takes === 'one') return { ...test, operator, value: first ?? (kind === 'boolean' ? true : null) }
  return { ...test, operator, value: Array.isArray(value) ? value : first === null ? [] : [first] }
}

/** The number that a text writes, as people type them before they choose the operator. */
function asNumber(value: Value): Value {
  if (typeof value !== 'string' || value.trim() === '') return value
  return Number.isFinite(Number(value)) ? Number(value) : value
}

/** A comparison for a field that was just chosen. */
export function newTest(field: string, kind: Kind): Test {
  const [operator = 'exists'] = OFFERED[kind]
  return withOperator({ field, operator, value: null }, operator, kind)
}

/** Whether a comparison lacks its field or value, so that it cannot be written yet. */
export function isIncomplete({ field, operator, value }: Test): boolean {
  if (field === '') return true
  const takes = OPERATORS[operator]
  if (takes === 'nothing') return false
  if (takes === 'several') return !Array.isArray(value) || value.length === 0
  if (takes === 'count') return typeof value !== 'number' || !Number.isInteger(value) || value < 0
  if (value === null || Array.isArray(value)) return true
  return typeof value === 'number' && !Number.isFinite(value)
}
