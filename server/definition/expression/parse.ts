import type { JsonValue } from '../json'
import { type Reference, referenceAt, TemplateSyntaxError } from '../template'
import { type Token, tokens } from './tokens'

/**
 * An expression: CEL's operators over `${path}`, without CEL's coercions and macros. Parsed once, and evaluated by
 * `evaluate.ts`.
 */
export type Expression =
  | { kind: 'literal'; value: JsonValue }
  | { kind: 'reference'; reference: Reference; at: number }
  | { kind: 'list'; items: Expression[] }
  | { kind: 'not' | 'minus'; operand: Expression }
  | { kind: 'binary'; operator: BinaryOperator; left: Expression; right: Expression }
  | { kind: 'choice'; test: Expression; yes: Expression; no: Expression }
  | { kind: 'call'; name: FunctionName; args: Expression[] }

export type BinaryOperator = (typeof LEVELS)[number][number]

/** The binary operators, loosest first. */
const LEVELS = [['||'], ['&&'], ['==', '!=', '<', '<=', '>', '>=', 'in'], ['+', '-'], ['*', '/', '%']] as const

/** Every function, with the number of its arguments. */
export const FUNCTIONS = {
  has: 1,
  size: 1,
  lower: 1,
  upper: 1,
  contains: 2,
  startsWith: 2,
  endsWith: 2,
  matches: 2,
} as const
export type FunctionName = keyof typeof FUNCTIONS

export const MAX_EXPRESSION_CHARS = 4_000
const MAX_NODES = 300
const MAX_DEPTH = 32

/** @throws TemplateSyntaxError */
export function parseExpression(text: string): Expression {
  if (text.length > MAX_EXPRESSION_CHARS)
    throw new TemplateSyntaxError(`The expression is longer than ${MAX_EXPRESSION_CHARS} characters`)
  return new Parser(text).parse()
}

class Parser {
  private readonly tokens: Token[]
  private at = 0
  private nodes = 0
  private depth = 0

  constructor(private readonly text: string) {
    this.tokens = tokens(text)
  }

  parse(): Expression {
    if (this.text.trim() === '') throw new TemplateSyntaxError('The expression is empty')
    const expression = this.choice()
    const rest = this.tokens[this.at]
    if (rest) throw this.unexpected(rest)
    return expression
  }

  private choice(): Expression {
    const test = this.binary(0)
    if (!this.takes('?')) return test
    return this.inside(() => {
      const yes = this.choice()
      this.expect(':')
      return this.node({ kind: 'choice', test, yes, no: this.choice() })
    })
  }

  private binary(level: number): Expression {
    const operators: readonly string[] | undefined = LEVELS[level]
    if (!operators) return this.unary()
    let left = this.binary(level + 1)
    for (;;) {
      const token = this.tokens[this.at]
      if (token?.kind !== 'operator' || !operators.includes(token.text)) return left
      this.at++
      const operator = token.text as BinaryOperator
      const right = this.binary(level + 1)
      left = this.node({ kind: 'binary', operator, left, right })
    }
  }

  private unary(): Expression {
    if (this.takes('!')) return this.inside(() => this.node({ kind: 'not', operand: this.unary() }))
    if (this.takes('-')) return this.inside(() => this.node({ kind: 'minus', operand: this.unary() }))
    return this.primary()
  }

  private primary(): Expression {
    const token = this.tokens[this.at++]
    if (!token) throw new TemplateSyntaxError('The expression ends too early')
    if (token.kind === 'value') return this.node({ kind: 'literal', value: token.value })
    if (token.kind === 'reference') {
      const { reference } = referenceAt(this.text, token.at)
      return this.node({ kind: 'reference', reference, at: token.at })
    }
    if (token.kind === 'name') return this.call(token)
    if (token.text === '(') {
      return this.inside(() => {
        const inner = this.choice()
        this.expect(')')
        return inner
      })
    }
    if (token.text === '[') return this.inside(() => this.node({ kind: 'list', items: this.items(']') }))
    throw this.unexpected(token)
  }

  private call(token: Token): Expression {
    const name = token.text
    if (!isFunction(name)) {
      const hint =
        this.tokens[this.at]?.text === '('
          ? `There is no function ${name}`
          : `Write \${${name}} for a field, or "${name}" for a string`
      throw new TemplateSyntaxError(`${hint} (at character ${token.at + 1})`)
    }
    this.expect('(')
    return this.inside(() => {
      const args = this.items(')')
      if (args.length !== FUNCTIONS[name]) {
        const wanted = FUNCTIONS[name] === 1 ? 'one argument' : 'two arguments'
        throw new TemplateSyntaxError(`${name} takes ${wanted}, not ${args.length}`)
      }
      if (name === 'has' && args[0]?.kind !== 'reference')
        throw new TemplateSyntaxError('has takes a path, such as has(${customer.vat})')
      return this.node({ kind: 'call', name, args })
    })
  }

  private items(end: string): Expression[] {
    const items: Expression[] = []
    if (this.takes(end)) return items
    do items.push(this.choice())
    while (this.takes(','))
    this.expect(end)
    return items
  }

  private takes(text: string): boolean {
    const token = this.tokens[this.at]
    if (token?.kind !== 'operator' || token.text !== text) return false
    this.at++
    return true
  }

  private expect(text: string): void {
    if (this.takes(text)) return
    const token = this.tokens[this.at]
    if (token)
      throw new TemplateSyntaxError(`Expected "${text}" instead of "${token.text}" (at character ${token.at + 1})`)
    throw new TemplateSyntaxError(`Expected "${text}" at the end`)
  }

  private unexpected(token: Token): TemplateSyntaxError {
    const hint = token.text === '=' ? '; write == to compare' : ''
    return new TemplateSyntaxError(`"${token.text}" is not allowed here (at character ${token.at + 1})${hint}`)
  }

  private node<E extends Expression>(expression: E): E {
    if (++this.nodes > MAX_NODES)
      throw new TemplateSyntaxError(`The expression has more than ${MAX_NODES} parts; split it into several steps`)
    return expression
  }

  private inside<T>(read: () => T): T {
    if (++this.depth > MAX_DEPTH) throw new TemplateSyntaxError(`The expression is nested more than ${MAX_DEPTH} deep`)
    const result = read()
    this.depth--
    return result
  }
}

function isFunction(name: string): name is FunctionName {
  return Object.hasOwn(FUNCTIONS, name)
}
