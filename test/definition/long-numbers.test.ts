import { describe, expect, test } from 'vitest'
import { draftOf, readExpected } from '@/app/(dashboard)/[tenant]/_test-cases/expected-draft'
import { importCurl } from '@/app/(dashboard)/[tenant]/tools/[toolId]/import-curl'
import { readClipboard } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/fragment'
import { locateJson } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/json-positions'
import { readRows } from '@/app/(dashboard)/[tenant]/workflows/start-values'
import { expressionReferences } from '@/server/definition/expression/fields'
import { checkFields } from '@/server/definition/fields'
import { InexactNumber, isInexact, parseExact, parseKeepingDigits } from '@/server/definition/long-numbers'
import { findReferences, parseTemplate } from '@/server/definition/template'
import { parseJson } from '@/server/http/parse-json'
import { sentOf } from '@/server/inbound/content'
import { evaluateText } from '@/server/tools/expression'
import { HttpConfig } from '@/server/tools/kinds/http-config'

const ID = '1234567890123456789'

describe('JSON of others', () => {
  test.each([
    [`{"id":${ID}}`, { id: ID }],
    [`{"id":-${ID},"n":[1,${ID} ,{"a":${ID}}]}`, { id: `-${ID}`, n: [1, ID, { a: ID }] }],
    [
      '[9007199254740991,-9007199254740991,9007199254740992]',
      [9007199254740991, -9007199254740991, '9007199254740992'],
    ],
    [ID, ID],
    ['[1e400,-1e400,1e308]', ['1e400', '-1e400', 1e308]],
    [
      '[1.2345678901234567,0.1234567890123456789,12345678901234567.5]',
      [1.2345678901234567, 0.12345678901234568, 12345678901234568],
    ],
    [`{"t":"${ID}","\\"${ID}":"a\\\\","e":"\\\\\\"${ID}"}`, { t: ID, [`"${ID}`]: 'a\\', e: `\\"${ID}` }],
    ['{"a":1}', { a: 1 }],
  ])('%s keeps every digit', (text, expected) => {
    expect(parseKeepingDigits(text)).toEqual(expected)
  })

  test('that is none stays an error', () => {
    for (const text of [`{"id":${ID}`, `"${ID}`, `[${ID},]`, ''])
      expect(() => parseKeepingDigits(text)).toThrow(SyntaxError)
  })

  test('of an inbound webhook keeps every digit, in a form’s payload too', () => {
    const sent = (contentType: string, body: string) => sentOf({ contentType, headers: {}, query: {}, body }).body
    expect(sent('application/json', `{"id":${ID}}`)).toEqual({ id: ID })
    const form = new URLSearchParams({ payload: `{"id":${ID}}` }).toString()
    expect(sent('application/x-www-form-urlencoded', form)).toEqual({ id: ID })
  })
})

describe('JSON for us', () => {
  const refusal = (text: string) => {
    try {
      return parseJson(text, 'The body')
    } catch (err) {
      return (err as { details: object[] }).details
    }
  }

  test('is refused for a number that would change, with its place and the remedy', () => {
    const reason = 'is too large to be kept exactly as a number; write it as text, in double quotes'
    expect(refusal('{"steps":[{"output":{"ok":1,"id":9007199254740993}}]}')).toEqual([
      { path: 'steps[0].output.id', message: `9007199254740993 ${reason}` },
    ])
    expect(refusal(ID)).toEqual([{ message: `${ID} ${reason}` }])
    expect(refusal(`{"a":-${ID}}`)).toEqual([{ path: 'a', message: `-${ID} ${reason}` }])
    expect(refusal(`[${'9'.repeat(100_000)}]`)).toEqual([{ path: '[0]', message: `${'9'.repeat(40)}… ${reason}` }])
  })

  test.each([
    '9007199254740991',
    '9007199254740992',
    // As programs write such values: the limits of 64-bit integers in schemas.
    '9223372036854776000',
    '18446744073709552000',
    '1000000000000000000000',
    '1e21',
    '1.2345678901234567890',
    '0.30000000000000004',
    `"${ID}"`,
    `{"a":"\\"${ID}"}`,
  ])('takes %s', (text) => {
    expect(refusal(text)).toEqual(JSON.parse(text))
    expect(parseExact(text)).toEqual(JSON.parse(text))
  })

  test('any number that a program writes is accepted', () => {
    for (let power = 0; power < 308; power++) {
      for (const factor of [1, 1.2345678901234567, -9.87654321]) {
        const text = JSON.stringify(factor * 10 ** power)
        expect([text, isInexact(text)]).toEqual([text, false])
      }
    }
  })

  test('costs no more than in proportion to its length, also where it is not valid', () => {
    const large = `{"id":${ID},"t":"${'\\"'.repeat(500_000)}`
    const began = process.cpuUsage()
    for (const text of [large, `${large}"}`]) {
      expect(() => parseExact(text)).toThrow()
      if (text !== large) expect(() => parseExact(text)).toThrow(InexactNumber)
    }
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000)
  })
})

test('a field for whole numbers says why it does not take a larger one', () => {
  const { details } = checkFields({ id: { type: 'integer' } }, { id: 9223372036854776000 })
  const reason = 'is too large to be kept exactly as a number; an id needs a field of type string'
  expect(details).toEqual([{ path: 'id', message: `id ${reason}` }])
  expect(checkFields({ id: { type: 'integer' } }, { id: 1.5 }).details[0]?.message).toBe(
    'id must be an integer, not number',
  )
})

const REASON = 'is too large to be kept exactly as a number; write it as text, in double quotes'

describe('a number in a definition', () => {
  test.each([
    ['${a ?? 1234567890123456789}', ID],
    ['of ${a} and ${b ?? {"id":[1234567890123456789]}}', ID],
  ])('in %s is refused', (text, literal) => {
    expect(findReferences({ x: text }).problems).toMatchObject([
      { path: 'x', error: { message: `${literal} ${REASON}` } },
    ])
  })

  test.each([
    ['${a} == 1234567890123456789', ID],
    ['${a ?? 1234567890123456789} > 1', ID],
    ['${a} in ["1", 1234567890123456789]', ID],
  ])('in the expression %s is refused', (when, literal) => {
    const { problems } = expressionReferences({ id: 'x', type: 'condition', when })
    expect(problems).toMatchObject([{ error: { message: `${literal} ${REASON}` } }])
  })

  test.each([`\${a} == "${ID}"`, `\${a} == '${ID}'`, `\${a["${ID}"]} == 9007199254740991`, `\${a ?? "${ID}"} == 1`])(
    'that is text, or exact, is taken: %s',
    (when) => {
      expect(expressionReferences({ id: 'x', type: 'condition', when }).problems).toEqual([])
    },
  )

  test('in a published version has the same meaning as before', () => {
    const [reference] = parseTemplate(`\${a ?? ${ID}}`)
    expect(reference).toMatchObject({ fallback: { value: Number(ID) } })
    expect(evaluateText(`\${a} < ${ID}`, () => 1)).toBe(true)
  })
})

describe('text typed or pasted in the dashboard', () => {
  test('the clipboard and the JSON view say why they do not take it', () => {
    const steps = `{"steps":[{"id":"end","type":"end-flow","output":{"id":${ID}}}]}`
    expect(readClipboard(steps)).toEqual({ kind: 'other', reason: `steps[0].output.id: ${ID} ${REASON}.` })
    expect(locateJson(`{"a": ${ID}}`)).toMatchObject({ problem: `${ID} ${REASON}`, span: { from: 6 } })
    expect(locateJson(`{"a": "${ID}"}`)).toMatchObject({ value: { a: ID } })
  })

  test('the body of a curl command is sent as it is written', () => {
    const { call, notes } = importCurl(`curl --json '{"id":${ID}}' https://e.com`)
    expect(call).toMatchObject({
      body: `{"id":${ID}}`,
      bodyType: 'text',
      headers: { 'content-type': 'application/json' },
    })
    expect(notes.join()).toContain('sent as text')
    expect(HttpConfig.safeParse(call).error).toBeUndefined()
  })

  test('a test case’s expectation, and rows of a value, change no digit', () => {
    const draft = draftOf({ kind: 'fields', fields: [{ path: ['id'], value: 12 }] })
    const typed = { ...draft, fields: draft.fields.map((field) => ({ ...field, text: ID })) }
    expect(readExpected(typed)).toEqual({ problem: { at: 'id', text: `${ID} ${REASON}` } })
    const whole = { ...draftOf({ kind: 'equals', value: 1 }), value: `{"id":${ID}}` }
    expect(readExpected(whole)).toEqual({ problem: { at: 'value', text: `id: ${ID} ${REASON}` } })
    expect(readRows({ type: 'object' }, `{"id":${ID}}`)).toBeNull()
    expect(readRows({ type: 'object' }, '{"id":1}')).toEqual({ value: { id: 1 } })
  })
})
