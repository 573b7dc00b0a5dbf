import type { BinaryOperator, Expression, FunctionName } from '../expression/parse'
import { type DeadEnd, deadEnd, type ReadName, readingOf } from './read'
import {
  ANY,
  has,
  join,
  joinAll,
  KIND,
  type Kind,
  listOf,
  NEVER,
  ofKind,
  ofKinds,
  typeOf,
  type ValueType,
  wordsFor,
} from './type'

/** An operator with values it never accepts, or a path to a part that does not exist. */
export interface Misfit extends DeadEnd {
  kind: 'operands' | 'path'
  /** Whether it is always evaluated, so that the expression surely fails. */
  sure: boolean
}

/** The type of an expression's result; `always` if all of its references have a value. */
export interface Typed {
  type: ValueType
  always: boolean
  misfits: Misfit[]
}

/** The type of an expression's value, if it has one. Mirrors `evaluate`. */
export function typeOfExpression(expression: Expression, read: ReadName): Typed {
  const typing = new Typing(read)
  const type = typing.visit(expression, true)
  return { type, always: typing.always, misfits: typing.misfits }
}

const BOOLEAN = ofKind('boolean')
const NUMBER = ofKind('number')
const STRING = ofKind('string')

class Typing {
  readonly misfits: Misfit[] = []
  always = true

  constructor(private readonly read: ReadName) {}

  /** @param sure whether this part is always evaluated */
  visit(part: Expression, sure: boolean): ValueType {
    switch (part.kind) {
      case 'literal':
        return typeOf(part.value)
      case 'reference': {
        const { type, always } = readingOf(part.reference, this.read)
        if (!always) this.always = false
        const end = type === NEVER ? deadEnd(part.reference, this.read) : null
        if (end) this.misfits.push({ ...end, kind: 'path', sure })
        return type
      }
      case 'list':
        return this.list(part.items.map((item) => this.visit(item, sure)))
      case 'not':
        return this.takes(part.operand, sure, '"!"', 'true or false', 'boolean')
      case 'minus':
        return this.takes(part.operand, sure, '"-"', 'a number', 'number')
      case 'choice': {
        const test = this.takes(part.test, sure, '"?"', 'true or false', 'boolean')
        const [yes, no] = [this.visit(part.yes, false), this.visit(part.no, false)]
        return test === NEVER ? NEVER : join(yes, no)
      }
      case 'binary':
        return this.binary(part.operator, part.left, part.right, sure)
      case 'call':
        return this.call(part.name, part.args, sure)
    }
  }

  /** A list has a value only if all its items have. */
  private list(items: ValueType[]): ValueType {
    return items.includes(NEVER) ? NEVER : listOf(joinAll(items))
  }

  private takes(part: Expression, sure: boolean, operator: string, wants: string, kind: Kind): ValueType {
    const type = this.visit(part, sure)
    if (type === NEVER) return NEVER
    return has(type, kind) ? ofKind(kind) : this.misfit(`${operator} takes ${wants}, not ${wordsFor(type)}.`, sure)
  }

  private misfit(message: string, sure: boolean): ValueType {
    this.misfits.push({ message, kind: 'operands', sure })
    return NEVER
  }

  private binary(operator: BinaryOperator, left: Expression, right: Expression, sure: boolean): ValueType {
    if (operator === '&&' || operator === '||') {
      const first = this.takes(left, sure, `"${operator}"`, 'true or false', 'boolean')
      // The right side counts only if the left side does not decide.
      this.takes(right, false, `"${operator}"`, 'true or false', 'boolean')
      return first
    }
    const [a, b] = [this.visit(left, sure), this.visit(right, sure)]
    if (a === NEVER || b === NEVER) return NEVER
    const wrong = (takes: string) =>
      this.misfit(`"${operator}" takes ${takes}, not ${wordsFor(a)} and ${wordsFor(b)}.`, sure)
    switch (operator) {
      case '==':
      case '!=':
        return BOOLEAN
      case 'in':
        return has(b, 'array') || (has(b, 'object') && has(a, 'string'))
          ? BOOLEAN
          : wrong('a value and a list, or a name and an object')
      case '+':
        return this.sum(a, b) ?? wrong('two numbers, two strings or two lists')
      case '<':
      case '<=':
      case '>':
      case '>=':
        return both(a, b, 'number') || both(a, b, 'string') ? BOOLEAN : wrong('two numbers or two strings')
      default:
        return both(a, b, 'number') ? NUMBER : wrong('two numbers')
    }
  }

  private sum(a: ValueType, b: ValueType): ValueType | null {
    const plain = (both(a, b, 'number') ? KIND.number : 0) | (both(a, b, 'string') ? KIND.string : 0)
    if (!both(a, b, 'array')) return plain === 0 ? null : ofKinds(plain)
    return join(ofKinds(plain), listOf(join(a.items, b.items)))
  }

  private call(name: FunctionName, args: Expression[], sure: boolean): ValueType {
    const [first, second] = args
    if (!first) return ANY
    // It also accepts missing values.
    if (name === 'has') return BOOLEAN
    if (name === 'size') {
      const type = this.visit(first, sure)
      if (type === NEVER) return NEVER
      if (has(type, 'string', 'array', 'object')) return NUMBER
      return this.misfit(`size takes a string, a list or an object, not ${wordsFor(type)}.`, sure)
    }
    const a = this.takes(first, sure, name, second ? 'two strings' : 'a string', 'string')
    if (!second) return a
    const b = this.takes(second, sure, name, 'two strings', 'string')
    return a === NEVER || b === NEVER ? NEVER : name === 'lower' || name === 'upper' ? STRING : BOOLEAN
  }
}

function both(a: ValueType, b: ValueType, kind: Kind): boolean {
  return has(a, kind) && has(b, kind)
}
