import type { Effort } from '../effort'
import { isJsonObject, type JsonValue, typeName } from '../json'
import { follow, type Lookup, type Reference, UnresolvedReference } from '../template'
import type { BinaryOperator, Expression, FunctionName } from './parse'

/** An expression without a value: an operator got values it does not accept, or evaluation exceeded its budget. */
export class ExpressionFailure extends Error {
  override name = 'ExpressionFailure'
}

/** Regular expressions whose time is linear in the text. */
export interface Matches {
  /** Whether the pattern occurs in the text. */
  find(text: string, pattern: string): boolean
  /** The pattern's cost for each character of a text. */
  sizeOf(pattern: string): number
  /** How many operations it takes at worst to compile the pattern. */
  costOf(pattern: string): number
}

/** The budget of one evaluation. Each part of an expression costs 1; long texts and large values cost more. */
const MAX_OPERATIONS = 10_000
const CHARS_PER_OPERATION = 1_000
const COMPARISONS_PER_OPERATION = 100_000
const MATCH_OPERATIONS = 20
const STATES_PER_OPERATION = 1_700

/**
 * The value of an expression.
 * @param effort the remaining operations, if several expressions are evaluated together
 * @throws ExpressionFailure, UnresolvedReference
 */
export function evaluate(expression: Expression, lookup: Lookup, matches: Matches, effort: Effort): JsonValue {
  return new Evaluation(lookup, matches, effort).value(expression)
}

class Evaluation {
  private left = MAX_OPERATIONS

  constructor(
    private readonly lookup: Lookup,
    private readonly matches: Matches,
    private readonly effort: Effort,
  ) {}

  value(expression: Expression): JsonValue {
    this.spend(1)
    switch (expression.kind) {
      case 'literal':
        return expression.value
      case 'reference':
        return follow(expression.reference, this.lookup)
      case 'list':
        return expression.items.map((item) => this.value(item))
      case 'not':
        return !this.truth(expression.operand, '!')
      case 'minus':
        return finite(-this.number(expression.operand, '-'), '-')
      case 'choice':
        return this.value(this.truth(expression.test, '?') ? expression.yes : expression.no)
      case 'binary':
        return this.binary(expression.operator, expression.left, expression.right)
      case 'call':
        return this.call(expression.name, expression.args)
    }
  }

  private binary(operator: BinaryOperator, left: Expression, right: Expression): JsonValue {
    if (operator === '&&') return this.truth(left, operator) && this.truth(right, operator)
    if (operator === '||') return this.truth(left, operator) || this.truth(right, operator)
    const [a, b] = [this.value(left), this.value(right)]
    switch (operator) {
      case '==':
        return this.same(a, b)
      case '!=':
        return !this.same(a, b)
      case 'in':
        return this.isIn(a, b)
      case '+':
        return this.sum(a, b)
      case '<':
      case '<=':
      case '>':
      case '>=':
        return this.compare(operator, a, b)
      default:
        return this.calculate(operator, a, b)
    }
  }

  private sum(a: JsonValue, b: JsonValue): JsonValue {
    if (typeof a === 'number' && typeof b === 'number') return finite(a + b, '+')
    if (typeof a === 'string' && typeof b === 'string') {
      this.spendText(a, b)
      return a + b
    }
    if (Array.isArray(a) && Array.isArray(b)) {
      this.spend(a.length + b.length)
      return [...a, ...b]
    }
    throw wrong('+', 'two numbers, two strings or two lists', a, b)
  }

  private compare(operator: '<' | '<=' | '>' | '>=', a: JsonValue, b: JsonValue): boolean {
    const texts = typeof a === 'string' && typeof b === 'string'
    if (!texts && !(typeof a === 'number' && typeof b === 'number'))
      throw wrong(operator, 'two numbers or two strings', a, b)
    if (texts) this.spendText(a, b as string)
    if (operator === '<') return a < b
    if (operator === '<=') return a <= b
    return operator === '>' ? a > b : a >= b
  }

  private calculate(operator: '-' | '*' | '/' | '%', a: JsonValue, b: JsonValue): number {
    if (typeof a !== 'number' || typeof b !== 'number') throw wrong(operator, 'two numbers', a, b)
    if (b === 0 && (operator === '/' || operator === '%')) throw new ExpressionFailure(`"${operator}" divides by zero`)
    const result = operator === '-' ? a - b : operator === '*' ? a * b : operator === '/' ? a / b : a % b
    return finite(result, operator)
  }

  private isIn(a: JsonValue, b: JsonValue): boolean {
    if (Array.isArray(b)) return b.some((item) => this.same(a, item))
    if (isJsonObject(b) && typeof a === 'string') return Object.hasOwn(b, a)
    throw wrong('in', 'a value and a list, or a name and an object', a, b)
  }

  private same(a: JsonValue, b: JsonValue): boolean {
    this.spend(1)
    if (typeof a === 'string' && typeof b === 'string' && a.length === b.length) this.spendText(a)
    if (a === b) return true
    if (Array.isArray(a) && Array.isArray(b))
      return a.length === b.length && a.every((item, at) => this.same(item, b[at] as JsonValue))
    if (!isJsonObject(a) || !isJsonObject(b)) return false
    const keys = Object.keys(a)
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && this.same(a[key] as JsonValue, b[key] as JsonValue))
    )
  }

  private call(name: FunctionName, args: Expression[]): JsonValue {
    const [first, second] = args
    if (!first) throw new ExpressionFailure(`${name} has no argument`)
    if (name === 'has') return this.has(first)
    if (name === 'size') return this.size(this.value(first))
    const text = this.text(this.value(first), name)
    this.spendText(text)
    if (name === 'lower') return text.toLowerCase()
    if (name === 'upper') return text.toUpperCase()
    const other = this.text(second ? this.value(second) : null, name)
    this.spendText(other)
    if (name === 'startsWith') return text.startsWith(other)
    if (name === 'endsWith') return text.endsWith(other)
    if (name === 'contains') {
      // At worst, it compares each character of one text with each of the other.
      this.spend(Math.floor((text.length * other.length) / COMPARISONS_PER_OPERATION))
      return text.includes(other)
    }
    this.spend(MATCH_OPERATIONS + this.matches.costOf(other))
    this.spend(Math.floor((text.length * this.matches.sizeOf(other)) / STATES_PER_OPERATION))
    return this.matches.find(text, other)
  }

  /** Like `??`, it treats null as a missing value. */
  private has(expression: Expression): boolean {
    const reference: Reference | null = expression.kind === 'reference' ? expression.reference : null
    if (!reference) throw new ExpressionFailure('has takes a path, such as has(${customer.vat})')
    try {
      return follow(reference, this.lookup) !== null
    } catch (err) {
      if (err instanceof UnresolvedReference) return false
      throw err
    }
  }

  private size(value: JsonValue): number {
    if (Array.isArray(value)) return value.length
    if (isJsonObject(value)) return Object.keys(value).length
    if (typeof value !== 'string')
      throw new ExpressionFailure(`size takes a string, a list or an object, not ${typeName(value)}`)
    this.spendText(value)
    let characters = 0
    for (const _ of value) characters++
    return characters
  }

  private truth(expression: Expression, operator: string): boolean {
    const value = this.value(expression)
    if (typeof value === 'boolean') return value
    throw new ExpressionFailure(`"${operator}" takes true or false, not ${typeName(value)}`)
  }

  private number(expression: Expression, operator: string): number {
    const value = this.value(expression)
    if (typeof value === 'number') return value
    throw new ExpressionFailure(`"${operator}" takes a number, not ${typeName(value)}`)
  }

  private text(value: JsonValue, name: string): string {
    if (typeof value === 'string') return value
    throw new ExpressionFailure(`${name} takes strings, not ${typeName(value)}`)
  }

  private spendText(...texts: string[]): void {
    for (const text of texts) this.spend(Math.floor(text.length / CHARS_PER_OPERATION))
  }

  private spend(operations: number): void {
    this.left -= operations
    if (this.left < 0 || (operations > 0 && !this.effort.allows(operations)))
      throw new ExpressionFailure('The expression takes too much work on these values')
  }
}

function finite(value: number, operator: string): number {
  if (!Number.isFinite(value)) throw new ExpressionFailure(`"${operator}" gives a number that is too large`)
  // JSON has no negative zero.
  return value + 0
}

function wrong(operator: string, takes: string, a: JsonValue, b: JsonValue): ExpressionFailure {
  return new ExpressionFailure(`"${operator}" takes ${takes}, not ${typeName(a)} and ${typeName(b)}`)
}
