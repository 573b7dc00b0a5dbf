import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import { lookupIn, resolveTemplates } from '@/server/definition/template'
import { evaluateText } from '@/server/tools/expression'
import { rounds } from '../support/rounds'
import { fuzzedTexts, NOWHERE } from './fuzz'

const data: JsonObject = frozen({
  name: 'Ada',
  total: 120,
  yes: true,
  none: null,
  odd: '$& $1 ${name} "\'\\\n',
  pattern: '([a-z]{1,20}){1,20}',
  long: 'a'.repeat(200_000),
  tags: ['a', 'b'],
  many: Array.from({ length: 20_000 }, (_, i) => i),
  lines: [{ price: 1 }, { price: 2 }],
  customer: { vat: 'DE1', vip: true },
  own: JSON.parse('{"toString":"mine","hasOwnProperty":1,"__proto__":{"x":"own"},"constructor":{"x":"own"}}'),
})
const lookup = lookupIn(data)
const ERRORS = new Set(['TemplateSyntaxError', 'UnresolvedReference', 'ExpressionFailure', 'TemplateTooLarge'])
/** Maximum processor time of one. The slowest of 200,000 took 37 ms. */
const MAX_CPU_MS = 500

/** How often an inherited property of an object, list, text or number was reached. */
let reached = 0
const before = Object.getOwnPropertyNames(Object.prototype)
beforeAll(() => {
  const get = () => ++reached
  Object.defineProperty(Object.prototype, 'inherited', { get, configurable: true })
})
afterAll(() => {
  delete (Object.prototype as { inherited?: unknown }).inherited
})

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const item of Object.values(Object.freeze(value))) frozen(item)
  return value
}

/** Whether a value is JSON in every part, with the standard prototypes. */
function isPlain(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value === data.many || value.every(isPlain)
  if (isJsonObject(value))
    return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain)
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

/** A text's value. Checks that it is own data or an error of the language, in time. */
function outcome(text: string, work: () => JsonValue): { value: JsonValue } | { error: string } {
  const from = process.cpuUsage()
  let came: ReturnType<typeof outcome>
  try {
    const value = work()
    if (!isPlain(value)) throw new Error('it gave what is not JSON')
    came = { value }
  } catch (err) {
    const { name, message } = err as Error
    if (!ERRORS.has(name) || /native code|\[object|undefined/.test(message))
      throw new Error(`${JSON.stringify(text)}: ${name}: ${message}`)
    came = { error: name }
  }
  const { user, system } = process.cpuUsage(from)
  if ((user + system) / 1_000 > MAX_CPU_MS)
    throw new Error(`${JSON.stringify(text)} took ${(user + system) / 1_000} ms`)
  return came
}

const asTemplate = (text: string) => outcome(text, () => resolveTemplates({ at: [text] }, lookup))
const asExpression = (text: string) => outcome(text, () => evaluateText(text, lookup))

const REFUSED = 'TemplateSyntaxError'
const NO_VALUE = 'UnresolvedReference'

describe('a hostile template', () => {
  test.each<[string, typeof REFUSED | typeof NO_VALUE | { value: JsonValue }]>([
    ['${__proto__}', REFUSED],
    ['${prototype}', REFUSED],
    ['${constructor}', REFUSED],
    ['${constructor.constructor("return process")()}', REFUSED],
    ['${name.__proto__.polluted}', REFUSED],
    ['${name.constructor}', REFUSED],
    ['${customer.constructor.prototype.polluted}', REFUSED],
    ['${_.__proto__}', REFUSED],
    ['${_.constructor ?? 1}', REFUSED],
    ['${tags[0].constructor}', REFUSED],
    ['${own.__proto__}', REFUSED],
    ['${own.constructor}', REFUSED],
    ['${customer["__proto__"]}', REFUSED],
    ['${["__proto__"]}', REFUSED],
    ['${["constructor"].constructor}', REFUSED],
    ['${customer["\\u005f_proto__"]}', REFUSED],
    ['${customer["vat]}', REFUSED],
    ['${customer["a"b"]}', REFUSED],
    ["${_['constructor']}", REFUSED],
    ['${customer[__proto__]}', REFUSED],
    ['${customer.\\u005f_proto__}', REFUSED],
    ['${__proto__\u200b}', REFUSED],
    ['${ｎame}', REFUSED],
    ['${name\u0000}', REFUSED],
    ['${tags[-1]}', REFUSED],
    ['${tags[4294967296]}', REFUSED],
    ['${require("fs")}', REFUSED],
    ['${name; process.exit(1)}', REFUSED],
    ['${`${name}`}', REFUSED],
    ['${${name}}', REFUSED],
    ['${missing ?? __proto__}', REFUSED],
    ['${missing ?? ${name}}', REFUSED],
    ['${name', REFUSED],
    ['${toString}', NO_VALUE],
    ['${customer.toString}', NO_VALUE],
    ['${_.hasOwnProperty}', NO_VALUE],
    ['${__defineGetter__}', NO_VALUE],
    ['${inherited}', NO_VALUE],
    ['${tags.inherited}', NO_VALUE],
    ['${name.length}', NO_VALUE],
    ['${name[0]}', NO_VALUE],
    ['${tags["0"]}', NO_VALUE],
    ['${customer["toString"]}', NO_VALUE],
    ['${["inherited"]}', NO_VALUE],
    ['${["na\\u006de"].inherited}', NO_VALUE],
    ['${tags.map}', NO_VALUE],
    ['${process.env.HOME}', NO_VALUE],
    ['${globalThis}', NO_VALUE],
    ['${secrets.TOKEN}', NO_VALUE],
    ['${own.toString}', { value: 'mine' }],
    ['$${__proto__}', { value: '${__proto__}' }],
    ['${missing ?? "$& ${name} }"}', { value: '$& ${name} }' }],
    ['${odd}', { value: '$& $1 ${name} "\'\\\n' }],
    ['<${odd}${odd}>', { value: '<$& $1 ${name} "\'\\\n$& $1 ${name} "\'\\\n>' }],
  ])('%s', (text, expected) => {
    const came = asTemplate(text)
    const inText = asTemplate(`a ${text} b`)
    expect(came).toEqual(typeof expected === 'string' ? { error: expected } : { value: { at: [expected.value] } })
    expect(inText).toEqual(
      typeof expected === 'string' ? { error: expected } : { value: { at: [`a ${expected.value} b`] } },
    )
    // As an expression too, unless it is only a template.
    if (typeof expected === 'string') expect(asExpression(text)).toEqual({ error: expected })
    expect(reached).toBe(0)
  })

  test('that brings its own __proto__ changes no other object', () => {
    const came = asTemplate('${missing ?? {"__proto__": {"polluted": true}}}')
    expect(JSON.stringify(came)).toBe('{"value":{"at":[{"__proto__":{"polluted":true}}]}}')
    expect('polluted' in {}).toBe(false)
  })

  test.each(NOWHERE)('%s has no value, not even for has, in and ==', (path) => {
    expect(asExpression(path)).toHaveProperty('error')
    expect(asExpression(`has(${path}) || "inherited" in \${customer} || "toString" in \${customer}`)).not.toEqual({
      value: true,
    })
  })
})

const COUNT = rounds(4_000, 200_000)

test(`${COUNT} fuzzed texts reach only own data, each within its budget`, () => {
  const next = fuzzedTexts(7)
  const came: Record<string, number> = {}
  for (let round = 0; round < COUNT; round++) {
    const text = next()
    const first = asExpression(text)
    // The second time it comes from the first one's cache.
    if (!isDeepStrictEqual(asExpression(text), first)) throw new Error(`${text} gave something else the second time`)
    asTemplate(text)
    const what = 'error' in first ? first.error : 'value'
    came[what] = (came[what] ?? 0) + 1
  }
  expect(reached).toBe(0)
  expect(Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== 'inherited')).toEqual(before)
  // Otherwise the test would prove nothing.
  expect(came.value).toBeGreaterThan(COUNT / 4)
  for (const error of ['TemplateSyntaxError', 'UnresolvedReference', 'ExpressionFailure'])
    expect(came[error], error).toBeGreaterThan(COUNT / 50)
}, 900_000)
