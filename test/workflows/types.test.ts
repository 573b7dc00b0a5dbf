import { expect, test } from 'vitest'
import type { Definition } from '@/server/definition/schema'
import { typeOfSchema } from '@/server/definition/types/of-json-schema'
import { conforms, typeOf, wordsFor } from '@/server/definition/types/type'
import { mismatches } from '@/server/tools/json-schema'
import { checkGraph } from '@/server/workflows/check/graph'
import { resultTypeOf } from '@/server/workflows/check/result-type'
import { scopeOf } from '@/server/workflows/check/scope'

const PAYLOAD: Definition['payload'] = {
  n: { type: 'number' },
  t: { type: 'string' },
  flag: { type: 'boolean' },
  list: { type: 'array' },
  maybe: { type: 'number', required: false },
}

function definition(steps: Definition['steps'], edges: Definition['edges'] = []): Definition {
  const [first] = steps
  const line = steps.slice(1).map(({ id }, at) => ({ from: steps[at]?.id ?? '', to: id }))
  return {
    name: 'n',
    description: '',
    initialStep: first?.id ?? null,
    payload: PAYLOAD,
    steps,
    edges: edges.length > 0 ? edges : line,
  }
}

function told(...args: Parameters<typeof definition>): string[] {
  return checkGraph(definition(...args)).flatMap(({ code, field, message }) =>
    code === 'W_NO_END' ? [] : [`${code} ${field}: ${message}`],
  )
}

const end = { id: 'end', type: 'end-flow' }
const set = (compute: Record<string, string>) => [{ id: 's', type: 'set-data', compute }, end]

test('an operator that can never take its operands is an error, and a warning where it may not be evaluated or is caught', () => {
  expect(told(set({ x: '${n} * ${t}' }))).toEqual([
    'TYPE_MISMATCH compute.x: "*" takes two numbers, not a number and a string.',
  ])
  expect(told(set({ x: '!${list}' }))[0]).toContain('TYPE_MISMATCH')
  expect(told(set({ x: '${flag} && lower(${n}) == "a"' }))[0]).toContain('W_TYPE_MISMATCH')
  expect(told(set({ x: '${n} * ${t}' }), [{ from: 's', to: 'end', on: 'error' }])[0]).toContain('W_TYPE_MISMATCH')
  expect(told(set({ x: '${n} + ${maybe ?? 1}', y: '${t} + "!"', z: '${n} in ${list} ? 1 : "a"' }))).toEqual([])
  // What later steps compute with it.
  const later = { id: 'l', type: 'set-data', compute: { y: '${x} - 1' } }
  expect(told([...set({ x: '${n} > 1' }).slice(0, 1), later, end])).toEqual([
    'TYPE_MISMATCH compute.y: "-" takes two numbers, not true or false and a number.',
  ])
})

test('it is not an error where no run comes, nor in a field that the type of the step does not have', () => {
  const lost = { id: 'lost', type: 'set-data', compute: { x: '${n} * ${t}' } }
  const unreached = told([end, lost, { ...end, id: 'end2' }], [{ from: 'lost', to: 'end2' }])
  expect(unreached).toContain('W_TYPE_MISMATCH compute.x: "*" takes two numbers, not a number and a string.')
  expect(unreached.filter((problem) => !problem.startsWith('W_'))).toEqual([])
  const stray = { when: '${n} + 1', compute: { x: '${n} * ${t}' }, cases: [{ id: 'a', when: '${t}' }] }
  expect(told([{ id: 'h', type: 'http-request', method: 'GET', url: 'https://a.example', ...stray }, end])).toEqual([])
  // Its own ones count.
  const wait = { id: 'w', type: 'condition', when: '${n} + 1', compute: { x: '!${t}' } }
  expect(
    told(
      [wait, end],
      [
        { from: 'w', to: 'end', on: 'true' },
        { from: 'w', to: 'end', on: 'false' },
      ],
    ),
  ).toEqual(['TYPE_MISMATCH when: It must give true or false, not a number.'])
})

test('a decision must be able to give true or false, and a list to be a list', () => {
  const both = [
    { from: 'c', to: 'end', on: 'true' },
    { from: 'c', to: 'end', on: 'false' },
  ]
  expect(told([{ id: 'c', type: 'condition', when: '${n} + 1' }, end], both)).toEqual([
    'TYPE_MISMATCH when: It must give true or false, not a number.',
  ])
  const each = (items: string) =>
    told(
      [{ id: 'e', type: 'for-each', items }, { id: 'x', type: 'set-data', compute: { y: '1' } }, end],
      [
        { from: 'e', to: 'x', on: 'each' },
        { from: 'e', to: 'end', on: 'done' },
      ],
    )
  expect(each('${list}')).toEqual([])
  expect(each('${t}')).toEqual(['TYPE_MISMATCH items: It must be a list, not a string.'])
  expect(each('${list} and more')[0]).toContain('TYPE_MISMATCH')
  expect(told([{ id: 'd', type: 'delay', until: '${n}' }, end])[0]).toContain('TYPE_MISMATCH until')
})

test('a path into a value without such a field is an error with the reason', () => {
  expect(told([{ ...end, output: { x: '${n.total}' } }])).toEqual([
    'EXPRESSION_UNRESOLVED output.x: ${n.total} can never have a value here: ${n} is a number.',
  ])
  const ask = { id: 'ask', type: 'collect-inputs', output: { amount: { type: 'number' as const } } }
  expect(told([ask, { ...end, output: { x: '${ask.amuont}', y: '${ask.amount}' } }])).toEqual([
    'EXPRESSION_UNRESOLVED output.x: ${ask.amuont} can never have a value here: ${ask} has no amuont. Did you mean amount?',
  ])
  expect(told([{ ...end, output: { x: '${n.total ?? 1}', y: '${list[0].x}' } }])).toEqual([])
  expect(told(set({ x: 'has(${n.total}) ? 1 : 2' }))).toEqual([])
})

test('types go through forks: items, results, writes of branches, and errors', () => {
  const steps = [
    { id: 'e', type: 'for-each', items: [1, 2], result: '${double}', saveAs: 'all' },
    { id: 'x', type: 'set-data', compute: { double: '${item} * 2' } },
    { id: 'p', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] },
    { id: 'pa', type: 'set-data', compute: { fa: '${all.results}' } },
    { id: 'pb', type: 'set-data', values: { fb: { when: '${t}' } } },
    { id: 'last', type: 'set-data', compute: { sum: '${fa[0]} + 1', text: '${fb.when} + "!"' } },
    { ...end, output: { sum: '${sum}', text: '${text}' } },
  ]
  const edges = [
    { from: 'e', to: 'x', on: 'each' },
    { from: 'e', to: 'p', on: 'done' },
    { from: 'p', to: 'pa', on: 'a' },
    { from: 'p', to: 'pb', on: 'b' },
    { from: 'p', to: 'last', on: 'done' },
    { from: 'last', to: 'end' },
  ]
  expect(told(steps, edges)).toEqual([])
  const written = definition(steps, edges)
  const types = Object.fromEntries(scopeOf(written, 'end').entries.map(({ name, type }) => [name, type]))
  expect(types).toMatchObject({
    sum: 'number',
    text: 'string',
    fa: 'array',
    'fb.when': 'string',
    'all.count': 'integer',
  })
  expect(resultTypeOf(written)).toMatchObject({ open: false })
  expect(conforms({ sum: 1, text: 'a' }, resultTypeOf(written))).toBe(true)
  expect(conforms({ sum: 'a', text: 'a' }, resultTypeOf(written))).toBe(false)
  const wrong = steps.map((step) => (step.id === 'last' ? { ...step, compute: { sum: '${fa} * 1' } } : step))
  expect(told(wrong, edges).join()).toContain('"*" takes two numbers, not a list and a number.')
})

test('after a step that may write any field, nothing is claimed of a type', () => {
  const tool = { id: 'tool', type: 'call-tool', toolId: 't' }
  expect(told([tool, ...set({ x: '!${n}' })])).toEqual([])
  expect(told([{ ...tool, saveAs: 'r' }, ...set({ x: '!${n}' })])[0]).toContain('TYPE_MISMATCH')
})

test('a schema says no more of a value than it checks', () => {
  const schema = {
    type: ['object', 'null'],
    properties: { a: { type: 'integer' }, b: { enum: ['x', 1] }, c: { type: 'array', items: { type: 'boolean' } } },
    required: ['a'],
    additionalProperties: false,
  }
  const type = typeOfSchema(schema)
  for (const value of [null, { a: 1 }, { a: 1, b: 'x', c: [true] }]) expect(conforms(value, type)).toBe(true)
  for (const value of ['x', {}, { a: 'x' }, { a: 1, b: true }, { a: 1, c: [1] }, { a: 1, d: 1 }])
    expect(conforms(value, type), JSON.stringify(value)).toBe(false)
  expect(wordsFor(typeOfSchema({ properties: { a: {} } }))).toBe('anything')
  // Null is accepted where a schema allows it beside its type, and by all parts of it.
  const nullable = { type: 'object', nullable: true, properties: { a: { type: 'string', nullable: true } } }
  for (const value of [null, { a: null }, { a: 'x' }]) {
    expect(mismatches(nullable, value, 'it')).toEqual([])
    expect(conforms(value, typeOfSchema(nullable))).toBe(true)
  }
  expect(wordsFor(typeOfSchema({ type: 'string', nullable: false }))).toBe('a string')
  expect(wordsFor(typeOfSchema({ anyOf: [{ type: 'string' }, { const: null }] }))).toBe('a string or null')
  // Deep and wide types lose their insides, not their soundness.
  let deep: unknown = 1
  for (let at = 0; at < 50; at++)
    deep = at % 2 ? [deep] : { deep, more: Array.from({ length: 50 }, (_, i) => ({ [`k${i}`]: i })) }
  expect(conforms(deep as never, typeOf(deep as never))).toBe(true)
})
