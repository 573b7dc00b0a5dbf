import { describe, expect, test } from 'vitest'
import type { JsonValue } from '@/server/definition/json'
import {
  findReferences,
  lookupIn,
  parseTemplate,
  readReference,
  referenceText,
  resolveTemplates,
  type Segment,
  TemplateMeter,
  TemplateSyntaxError,
  TemplateTooLarge,
  UnresolvedReference,
} from '@/server/definition/template'
import { quickest } from '../support/patience'

const data: JsonValue = {
  name: 'Ada',
  count: 3,
  nothing: null,
  yes: true,
  order: { items: [{ sku: 'a-1' }, { sku: 'b-2' }], 'first-name': 'x' },
  list: [[1, 2], [3]],
}
const resolve = (value: JsonValue) => resolveTemplates(value, lookupIn(data))

describe('a template looks up paths', () => {
  test('an expression that is the whole text keeps the value and its type', () => {
    expect(resolve('${count}')).toBe(3)
    expect(resolve('${yes}')).toBe(true)
    expect(resolve('${nothing}')).toBeNull()
    expect(resolve('${order}')).toEqual({ items: [{ sku: 'a-1' }, { sku: 'b-2' }], 'first-name': 'x' })
    expect(resolve('${order.items[1].sku}')).toBe('b-2')
    expect(resolve('${list[0][1]}')).toBe(2)
    expect(resolve('${order.first-name}')).toBe('x')
  })

  test('a name in brackets may have any characters, at the beginning and inside', () => {
    const odd = { '7f3c-b': { total: 5, 'unit price': [{ '}"': 'x' }] }, größe: 'L', '-x.y': 1, '42': 'text' }
    const inOdd = (text: string) => resolveTemplates(text, lookupIn(odd))
    expect(inOdd('${["7f3c-b"].total}')).toBe(5)
    expect(inOdd('${["7f3c-b"]["unit price"][0]["}\\""]}')).toBe('x')
    expect(inOdd('${["größe"]} ${["-x.y"]} ${["42"]}')).toBe('L 1 text')
    expect(inOdd('${["no such"] ?? "none"}')).toBe('none')
    expect(inOdd('${_["7f3c-b"].total}')).toBe(5)
  })

  test('a path’s names are written so that they read as the same path', () => {
    const paths: [string, ...Segment[]][] = [
      ['order', 'lines', 0, 'sku'],
      ['7f3c-b', 'total'],
      ['-x.y', 'unit price', 3, '"quoted" }'],
      ['größe', ''],
    ]
    for (const path of paths) {
      const { root, path: rest } = readReference(referenceText(path))
      expect([root, ...rest]).toEqual(path)
    }
    expect(referenceText(['order', 'lines', 0, 'sku'])).toBe('order.lines[0].sku')
    expect(referenceText(['7f3c-b', 'total'])).toBe('["7f3c-b"].total')
  })

  test('the first name of a path counts as composed, in any form', () => {
    expect(resolveTemplates('${["gro\u0308ße"]}', lookupIn({ größe: 'L' }))).toBe('L')
  })

  test('${_} is the root, object or array', () => {
    expect(resolve('${_}')).toEqual(data)
    expect(resolve('${_.name}')).toBe('Ada')
    expect(resolveTemplates('${_}', lookupIn([1, 2]))).toEqual([1, 2])
    expect(resolveTemplates('${_[1]}', lookupIn([1, 2]))).toBe(2)
  })

  test('inside text a value becomes text; objects become JSON, null becomes empty', () => {
    expect(resolve('Hi ${name}, ${count} ${nothing}|${order.items[0]}')).toBe('Hi Ada, 3 |{"sku":"a-1"}')
  })

  test('replacement patterns in values have no effect', () => {
    expect(resolveTemplates('<${x}>', lookupIn({ x: "$& $1 $$ $` $' ${name}" }))).toBe("<$& $1 $$ $` $' ${name}>")
  })

  test('$${ is a literal ${', () => {
    expect(resolve('costs $${count} and ${count}')).toBe('costs ${count} and 3')
    expect(resolve('$${}')).toBe('${}')
  })

  test('every leaf is resolved, keys are not, and the argument is never changed', () => {
    const config = { a: ['${name}', { b: '${count}' }], '${name}': 1 }
    const before = structuredClone(config)
    expect(resolve(config)).toEqual({ a: ['Ada', { b: 3 }], '${name}': 1 })
    expect(config).toEqual(before)
  })

  test('a missing value fails and names the path, and never becomes a silent null', () => {
    for (const text of [
      '${missing}',
      '${order.items[9].sku}',
      '${name.length}',
      'x ${order.nope} y',
      '${list.length}',
    ]) {
      expect(() => resolve(text), text).toThrow(UnresolvedReference)
    }
  })

  test('?? gives a JSON literal where there is no value', () => {
    expect(resolve('${missing ?? "none"}')).toBe('none')
    expect(resolve('${missing ?? {"a":[1,"}"]}}')).toEqual({ a: [1, '}'] })
    expect(resolve('${nothing ?? 7}')).toBe(7)
    expect(resolve('${count ?? 7}')).toBe(3)
    expect(resolve('n=${missing ?? 0}')).toBe('n=0')
  })

  test.each([
    "${constructor.constructor('return process')()}",
    '${__proto__.polluted}',
    '${name.__proto__}',
    '${a.prototype}',
    '${constructor}',
  ])('%s is rejected because of its name', (text) => {
    expect(() => parseTemplate(text)).toThrow(TemplateSyntaxError)
    try {
      parseTemplate(text)
    } catch (err) {
      expect((err as TemplateSyntaxError).forbidden).toBe(true)
    }
  })

  test.each([
    '${',
    '${}',
    '${ }',
    '${a',
    '${a b}',
    '${a()}',
    '${a.}',
    '${.a}',
    '${a[}',
    '${a[-1]}',
    '${a["b}',
    '${a["b]}',
    '${a[b]}',
    "${a['b']}",
    '${["a"]b}',
    '${a.["b"]}',
    '${["\\x"]}',
    "${_['__proto__']}",
    '${1a}',
    '${a + b}',
    '${${x}}',
    '${a ?? }',
    '${a ?? b}',
    '${process.env.X; 1}',
    '${a?.b}',
    '${`x`}',
    '${a;b}',
  ])('%s is not a path', (text) => {
    expect(() => parseTemplate(text)).toThrow(TemplateSyntaxError)
  })

  test('inherited properties are not values', () => {
    for (const name of ['toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']) {
      expect(() => resolve(`\${${name}}`), name).toThrow(UnresolvedReference)
      expect(() => resolve(`\${order.${name}}`), name).toThrow(UnresolvedReference)
    }
  })

  test('long texts are parsed in linear time', async () => {
    const took = await quickest(2_000, () => {
      resolve('$'.repeat(100_000))
      resolve('$${'.repeat(50_000))
      resolve('${name}'.repeat(20_000))
      expect(() => resolve('${'.repeat(50_000))).toThrow()
    })
    expect(took).toBeLessThan(2_000)
  })
})

test('references are found with their positions', () => {
  const found = findReferences({ a: '${x.y}', b: ['z', '${w ?? 1}'], c: { d: '${bad bad}' } })
  expect(found.references.map(({ path, reference }) => [path, reference.root])).toEqual([
    ['a', 'x'],
    ['b[1]', 'w'],
  ])
  expect(found.problems.map(({ path }) => path)).toEqual(['c.d'])
})

describe('the size of a template’s result is counted', () => {
  test('before it is built, measuring each value once', () => {
    let measured = 0
    const value = {
      toJSON: () => {
        measured++
        return 'x'.repeat(1_000)
      },
    } as unknown as JsonValue
    const lookup = lookupIn({ value })
    const list = Array<string>(1_000).fill('${value}')
    expect(() => resolveTemplates(list, lookup, new TemplateMeter(500_000))).toThrow(TemplateTooLarge)
    expect(() => resolveTemplates(list.join(''), lookup, new TemplateMeter(500_000))).toThrow(TemplateTooLarge)
    expect(measured).toBeLessThanOrEqual(3)
    expect(resolveTemplates(list, lookup, new TemplateMeter(1_100_000))).toEqual(Array(1_000).fill(value))
  })

  test('as the JSON that is stored, including names', () => {
    for (const config of [{ a: ['${name}', { b: '${order}' }], '"': null }, ['x ${order} "y"\n', true], '${_}', {}]) {
      const size = Buffer.byteLength(JSON.stringify(resolve(config)))
      expect(() => resolveTemplates(config, lookupIn(data), new TemplateMeter(size / 2)), String(size)).toThrow(
        TemplateTooLarge,
      )
      expect(resolveTemplates(config, lookupIn(data), new TemplateMeter(size * 2))).toEqual(resolve(config))
    }
  })
})
