import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isRule,
  OPERATORS,
  type Operator,
  type Rule,
  readRule,
  type Test,
  type Value,
  writeRule,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/rule'
import {
  isIncomplete,
  kindOf,
  kindOfAny,
  newTest,
  operatorsOf,
  withOperator,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/rule-words'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { evaluateText } from '@/server/tools/expression'

/** Fields of each kind, with values that all their operators accept. */
const DATA = fc.record({
  name: fc.oneof(fc.constantFrom('ab', 'abc', '"q" \\ ${x} \n'), fc.string({ maxLength: 4 })),
  total: fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
  paid: fc.boolean(),
  due: fc.constantFrom('2026-01-31', '2026-02-01', '2027-12-24'),
  tags: fc.array(fc.constantFrom('a', 'b', 1, true), { maxLength: 3 }),
  'customer["full name"]': fc.constantFrom('Ada', 'Grace'),
})
type Data = { [name: string]: JsonValue }

/** As runs hold it: the last field is nested. */
const stored = ({ 'customer["full name"]': nested, ...rest }: Data): JsonObject => ({
  ...rest,
  customer: { 'full name': nested as JsonValue },
})

const text = fc.oneof(
  fc.constantFrom('ab', 'abc', 'Ada', 'a"b', "it's", '${total}', '\\', '\n'),
  fc.string({ maxLength: 4 }),
)
const number = fc
  .oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((n) => n + 0)
const ONE: Record<string, { field: fc.Arbitrary<string>; value: fc.Arbitrary<string | number | boolean> }[]> = {
  ordered: [
    { field: fc.constant('total'), value: number },
    { field: fc.constant('due'), value: fc.constantFrom('2026-01-31', '2026-02-02') },
    { field: fc.constant('name'), value: text },
  ],
  any: [
    { field: fc.constant('total'), value: number },
    { field: fc.constant('paid'), value: fc.boolean() },
    { field: fc.constantFrom('name', 'customer["full name"]'), value: text },
  ],
  text: [{ field: fc.constantFrom('name', 'customer["full name"]'), value: text }],
  list: [{ field: fc.constant('tags'), value: fc.constantFrom<string | number | boolean>('a', 'c', 1, true) }],
}

function testsOf(operator: Operator): fc.Arbitrary<Test> {
  const takes = OPERATORS[operator]
  const fields = fc.constantFrom('name', 'total', 'paid', 'tags', 'absent', 'customer["full name"]')
  if (operator === 'exists' || operator === 'missing') return fields.map((field) => ({ field, operator, value: null }))
  if (takes === 'nothing') return fc.constant({ field: 'tags', operator, value: null })
  if (takes === 'count') return fc.nat(3).map((value) => ({ field: 'tags', operator, value }))
  const group = ['less', 'atMost', 'more', 'atLeast'].includes(operator)
    ? 'ordered'
    : ['contains', 'lacks', 'starts', 'ends'].includes(operator)
      ? 'text'
      : ['includes', 'excludes'].includes(operator)
        ? 'list'
        : 'any'
  return fc.oneof(
    ...(ONE[group] ?? []).map(({ field, value }) =>
      fc.record({
        field,
        operator: fc.constant(operator),
        value: (takes === 'several' ? fc.array(value, { minLength: 1, maxLength: 3 }) : value) as fc.Arbitrary<Value>,
      }),
    ),
  )
}

const tests = fc.oneof(...(Object.keys(OPERATORS) as Operator[]).map(testsOf))
const joins = fc.constantFrom<'all' | 'any'>('all', 'any')
/** A group joins otherwise than the rule around it, and has several parts: others are the same as no group. */
const rules: fc.Arbitrary<Rule> = joins.chain((join) =>
  fc.record({
    join: fc.constant(join),
    parts: fc.array(
      fc.oneof(
        { weight: 3, arbitrary: tests },
        {
          weight: 1,
          arbitrary: fc.record({
            join: fc.constant(join === 'all' ? ('any' as const) : ('all' as const)),
            parts: fc.array(tests, { minLength: 2, maxLength: 3 }),
          }),
        },
      ),
      { minLength: 1, maxLength: 4 },
    ),
  }),
)

/** A rule of one part is read as that part, whichever way it joins. */
function plainest(rule: Rule): Rule {
  const [only] = rule.parts
  if (rule.parts.length !== 1 || !only) return rule
  return isRule(only) ? only : { join: 'all', parts: [only] }
}

/** What a rule means, without the language of expressions. */
function holds(part: Test | Rule, data: Data): boolean {
  if (isRule(part)) {
    return part.join === 'all'
      ? part.parts.every((one) => holds(one, data))
      : part.parts.some((one) => holds(one, data))
  }
  const found = data[part.field]
  const value = part.value as JsonValue
  const list = (Array.isArray(found) ? found : []) as JsonValue[]
  switch (part.operator) {
    case 'is':
      return found === value
    case 'isNot':
      return found !== value
    case 'less':
      return (found as number) < (value as number)
    case 'atMost':
      return (found as number) <= (value as number)
    case 'more':
      return (found as number) > (value as number)
    case 'atLeast':
      return (found as number) >= (value as number)
    case 'oneOf':
      return (value as JsonValue[]).includes(found as JsonValue)
    case 'noneOf':
      return !(value as JsonValue[]).includes(found as JsonValue)
    case 'contains':
      return String(found).includes(String(value))
    case 'lacks':
      return !String(found).includes(String(value))
    case 'starts':
      return String(found).startsWith(String(value))
    case 'ends':
      return String(found).endsWith(String(value))
    case 'includes':
      return list.includes(value)
    case 'excludes':
      return !list.includes(value)
    case 'empty':
      return list.length === 0
    case 'filled':
      return list.length > 0
    case 'sizeAtLeast':
      return list.length >= (value as number)
    case 'sizeAtMost':
      return list.length <= (value as number)
    case 'exists':
      return found !== undefined
    case 'missing':
      return found === undefined
  }
}

describe('a rule', () => {
  test('is read back from the expression it writes', () => {
    fc.assert(
      fc.property(rules, (rule) => {
        expect(readRule(writeRule(rule))).toEqual(plainest(rule))
      }),
      { numRuns: 400 },
    )
  })

  test('means what its expression evaluates to', () => {
    fc.assert(
      fc.property(rules, DATA, (rule, data) => {
        const run = stored(data)
        expect(evaluateText(writeRule(rule), (name) => run[name])).toBe(holds(rule, data))
      }),
      { numRuns: 400 },
    )
  })

  test('that is read from a written expression means the same', () => {
    const written = fc.constantFrom(
      '${paid}',
      '!${paid}',
      "${name} == 'ab'",
      '( ${total} > 1 ) && (${paid} || ${total} < -1)',
      '${total} >= -2.50e0 && ${total} <= 3 && ${ name } in ["ab", "abc"]',
      '!(contains(${name}, "a"))',
      'size(${tags}) > 0 || !has(${absent})',
      '',
      'true',
    )
    fc.assert(
      fc.property(written, DATA, (expression, data) => {
        const rule = readRule(expression)
        expect(rule).not.toBeNull()
        const run = stored(data)
        const read = (text: string) => evaluateText(text, (name) => run[name])
        if (rule) expect(read(writeRule(rule))).toBe(read(expression || 'true'))
      }),
    )
  })

  test.each([
    '${a} + 1 > 2',
    '${a} > ${b}',
    '1 < ${a}',
    '${a ?? 0} > 1',
    '${a} == null',
    '${a} < true',
    'lower(${a}) == "x"',
    'matches(${a}, "^x")',
    '!(${a} == 1)',
    '!(${a} && ${b})',
    '${a} ? true : false',
    '${a} in []',
    '${a} in ["x", null]',
    'size(${a}) == 3',
    'size(${a}) > 1.5',
    '${a} == [1]',
    '(${a} || (${b} && (${c} || ${d}))) && ${e}',
    'false',
    '${a} >',
    'not an expression',
  ])('%s stays text', (expression) => expect(readRule(expression)).toBeNull())

  test('without a comparison always holds', () => {
    expect(writeRule({ join: 'all', parts: [] })).toBe('true')
    expect(evaluateText('true', () => undefined)).toBe(true)
  })
})

describe('the operators of a field', () => {
  test.each([
    ['string', undefined, null, 'text', 'contains'],
    ['string', undefined, '"2026-01-31"', 'date', 'less'],
    ['string', ['red', 'blue'], null, 'choice', 'oneOf'],
    ['integer', undefined, '4', 'number', 'atLeast'],
    ['boolean', undefined, null, 'boolean', 'is'],
    ['array', undefined, null, 'list', 'includes'],
    ['any', undefined, null, 'any', 'more'],
  ] as const)('%s, %j, last %j: %s', (type, choices, last, kind, operator) => {
    expect(kindOf(type, choices, last)).toBe(kind)
    expect(operatorsOf(kind, 'is').map(({ value }) => value)).toContain(operator)
  })

  test('always has the one in use, and each once', () => {
    for (const kind of ['text', 'number', 'boolean', 'date', 'choice', 'list', 'object', 'any'] as const) {
      for (const operator of Object.keys(OPERATORS) as Operator[]) {
        const values = operatorsOf(kind, operator).map(({ value }) => value)
        expect(values).toContain(operator)
        expect(new Set(values).size).toBe(values.length)
      }
    }
  })

  test('a new comparison is incomplete until it has a value, if it needs one', () => {
    expect(isIncomplete(newTest('name', 'text'))).toBe(true)
    expect(isIncomplete({ ...newTest('name', 'text'), value: '' })).toBe(false)
    expect(isIncomplete(newTest('paid', 'boolean'))).toBe(false)
    expect(isIncomplete(newTest('customer', 'object'))).toBe(false)
    expect(isIncomplete({ field: '', operator: 'exists', value: null })).toBe(true)
    expect(isIncomplete({ field: 'a', operator: 'oneOf', value: [] })).toBe(true)
  })

  test('a field of unknown type is compared by order with a number, unless its value is something else', () => {
    const chosen = withOperator(newTest('args.amount', 'any'), 'more', 'any')
    expect(kindOfAny(chosen)).toBe('number')
    expect(kindOfAny({ ...chosen, value: '' })).toBe('text')
    expect(kindOfAny(newTest('args.amount', 'any'))).toBe('text')
    const typed = withOperator({ field: 'args.amount', operator: 'is', value: '100' }, 'more', 'any')
    expect(writeRule({ join: 'all', parts: [typed] } as Rule)).toBe('${args.amount} > 100')
    const word = withOperator({ field: 'args.size', operator: 'is', value: 'M' }, 'atMost', 'any')
    expect(word.value).toBe('M')
    expect(withOperator({ field: 'name', operator: 'is', value: '100' }, 'more', 'text').value).toBe('100')
  })
})
