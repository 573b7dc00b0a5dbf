import { type Expression, parseExpression } from '@/server/definition/expression/parse'
import type { JsonValue } from '@/server/definition/json'
import { referenceAt, TemplateSyntaxError } from '@/server/definition/template'

/** A comparison of one field. */
export interface Test {
  /** The text between `${` and `}`. */
  field: string
  operator: Operator
  /** What it is compared with: one value, several for `oneOf`, a number of items, or nothing. */
  value: Value
}
export type Value = string | number | boolean | null | readonly (string | number | boolean)[]

/** Comparisons: all of them must hold, or any of them. */
export interface Rule {
  join: 'all' | 'any'
  parts: readonly (Test | Rule)[]
}

/** How an operator compares: with one value, with several, with a number of items, or with nothing. */
export const OPERATORS = {
  is: 'one',
  isNot: 'one',
  less: 'one',
  atMost: 'one',
  more: 'one',
  atLeast: 'one',
  oneOf: 'several',
  noneOf: 'several',
  contains: 'one',
  lacks: 'one',
  starts: 'one',
  ends: 'one',
  includes: 'one',
  excludes: 'one',
  empty: 'nothing',
  filled: 'nothing',
  sizeAtLeast: 'count',
  sizeAtMost: 'count',
  exists: 'nothing',
  missing: 'nothing',
} as const
export type Operator = keyof typeof OPERATORS

export const isRule = (part: Test | Rule): part is Rule => 'join' in part

/** The rule that always holds. */
export const ALWAYS: Rule = { join: 'all', parts: [] }

const COMPARISONS = { is: '==', isNot: '!=', less: '<', atMost: '<=', more: '>', atLeast: '>=' } as const
const CALLS = { contains: 'contains', starts: 'startsWith', ends: 'endsWith' } as const

/** The rule as an expression. */
export function writeRule({ join, parts }: Rule): string {
  if (parts.length === 0) return join === 'all' ? 'true' : 'false'
  return parts
    .map((part) => (isRule(part) ? `(${writeRule(part)})` : writeTest(part)))
    .join(join === 'all' ? ' && ' : ' || ')
}

function writeTest({ field, operator, value }: Test): string {
  const at = `\${${field}}`
  const literal = Array.isArray(value) ? `[${value.map(written).join(', ')}]` : written(value as JsonValue)
  switch (operator) {
    case 'oneOf':
      return `${at} in ${literal}`
    case 'noneOf':
      return `!(${at} in ${literal})`
    case 'contains':
    case 'starts':
    case 'ends':
      return `${CALLS[operator]}(${at}, ${literal})`
    case 'lacks':
      return `!contains(${at}, ${literal})`
    case 'includes':
      return `${literal} in ${at}`
    case 'excludes':
      return `!(${literal} in ${at})`
    case 'empty':
      return `size(${at}) == 0`
    case 'filled':
      return `size(${at}) > 0`
    case 'sizeAtLeast':
      return `size(${at}) >= ${literal}`
    case 'sizeAtMost':
      return `size(${at}) <= ${literal}`
    case 'exists':
      return `has(${at})`
    case 'missing':
      return `!has(${at})`
    default:
      return `${at} ${COMPARISONS[operator]} ${literal}`
  }
}

const written = (value: JsonValue) => JSON.stringify(value)

/** The rule that an expression writes; null if it says more than a rule can. */
export function readRule(text: string): Rule | null {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === 'true') return ALWAYS
  try {
    const part = new Reader(text).part(parseExpression(text))
    if (part === null) return null
    return isRule(part) ? part : { join: 'all', parts: [part] }
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return null
    throw error
  }
}

/** Two levels: comparisons, and groups of them. Deeper ones are harder to read as rows than as text. */
const MAX_LEVELS = 2

class Reader {
  constructor(private readonly text: string) {}

  part(expression: Expression, level = 0): Test | Rule | null {
    if (expression.kind !== 'binary' || (expression.operator !== '&&' && expression.operator !== '||'))
      return this.test(expression)
    if (level === MAX_LEVELS) return null
    const parts = operandsOf(expression, expression.operator).map((operand) => this.part(operand, level + 1))
    if (parts.some((part) => part === null)) return null
    return { join: expression.operator === '&&' ? 'all' : 'any', parts: parts as (Test | Rule)[] }
  }

  private test(expression: Expression): Test | null {
    if (expression.kind === 'reference') return this.of(expression, 'is', true)
    if (expression.kind === 'call') return this.call(expression.name, expression.args)
    if (expression.kind === 'not') return this.negated(expression.operand)
    if (expression.kind !== 'binary') return null
    const { operator, left, right } = expression
    if (operator === 'in') return this.within(left, right)
    const compared = Object.entries(COMPARISONS).find(([, written]) => written === operator)?.[0] as
      | Operator
      | undefined
    const value = literalOf(right)
    if (compared === undefined || value === undefined || value === null || Array.isArray(value)) return null
    if (left.kind === 'call' && left.name === 'size') return this.sized(left.args[0], compared, value)
    const orders = compared !== 'is' && compared !== 'isNot'
    if (orders && typeof value !== 'number' && typeof value !== 'string') return null
    return this.of(left, compared, value)
  }

  private negated(operand: Expression): Test | null {
    if (operand.kind === 'reference') return this.of(operand, 'is', false)
    const test = operand.kind === 'call' || operand.kind === 'binary' ? this.test(operand) : null
    const opposite = test && (OPPOSITES as Partial<Record<Operator, Operator>>)[test.operator]
    return test && opposite ? { ...test, operator: opposite } : null
  }

  private within(left: Expression, right: Expression): Test | null {
    const [value, values] = [literalOf(left), literalOf(right)]
    if (Array.isArray(values)) return values.length === 0 ? null : this.of(left, 'oneOf', values)
    return value === undefined || value === null || Array.isArray(value) ? null : this.of(right, 'includes', value)
  }

  private sized(field: Expression | undefined, compared: Operator, value: Value): Test | null {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return null
    if (compared === 'atLeast') return this.of(field, 'sizeAtLeast', value)
    if (compared === 'atMost') return this.of(field, 'sizeAtMost', value)
    if (value !== 0) return null
    return compared === 'is'
      ? this.of(field, 'empty', null)
      : compared === 'more'
        ? this.of(field, 'filled', null)
        : null
  }

  private call(name: string, [field, given]: Expression[]): Test | null {
    if (name === 'has') return this.of(field, 'exists', null)
    const operator = Object.entries(CALLS).find(([, called]) => called === name)?.[0] as Operator | undefined
    const value = given && literalOf(given)
    return operator !== undefined && typeof value === 'string' ? this.of(field, operator, value) : null
  }

  private of(field: Expression | undefined, operator: Operator, value: Value): Test | null {
    if (field?.kind !== 'reference' || field.reference.fallback) return null
    const { end } = referenceAt(this.text, field.at)
    return { field: this.text.slice(field.at + 2, end - 1).trim(), operator, value }
  }
}

/** The operators whose negation is an operator too. */
const OPPOSITES = { oneOf: 'noneOf', contains: 'lacks', includes: 'excludes', exists: 'missing' } as const

/** The parts of `a && b && c`, which the parser nests to the left. */
function operandsOf(expression: Expression, operator: '&&' | '||'): Expression[] {
  if (expression.kind !== 'binary' || expression.operator !== operator) return [expression]
  return [...operandsOf(expression.left, operator), ...operandsOf(expression.right, operator)]
}

/** A plain value, or a list of them; undefined for anything else. */
function literalOf(expression: Expression): Value | undefined {
  if (expression.kind === 'literal') return expression.value as Value
  if (expression.kind === 'minus') {
    const value = literalOf(expression.operand)
    return typeof value === 'number' ? -value : undefined
  }
  if (expression.kind !== 'list') return undefined
  const items = expression.items.map(literalOf)
  return items.every((item) => item !== undefined && item !== null && typeof item !== 'object')
    ? (items as Exclude<Value, null>[] as (string | number | boolean)[])
    : undefined
}
