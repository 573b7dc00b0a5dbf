import { expect, test } from 'vitest'
import { MAX_ANSWER, readAnswer } from '@/server/agents/read-answer'

const SCHEMA = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }

test.each([
  '{',
  '[',
  '{"a":',
  '{"a":"',
  '{"a":{"a":[',
  '{}',
  '{"b":1} ',
  '<think>',
  '</think>',
  '<think></think>',
  '```json\n{',
  '{x}',
  '{"\\',
])('an answer of nothing but %j is read within the time that no request may hold', (piece) => {
  const text = piece.repeat(Math.floor(MAX_ANSWER / piece.length))
  const began = process.cpuUsage()
  expect(readAnswer(text, SCHEMA).data).toBeNull()
  const { user, system } = process.cpuUsage(began)
  expect((user + system) / 1000).toBeLessThan(250)
})

test('of several objects, the last one that matches is the answer; an object in a list is not one', () => {
  const data = (text: string) => readAnswer(text, SCHEMA).data
  expect(data('First {"a":1}, then {"a":2}; not {"b":3}.')).toEqual({ a: 2 })
  expect(data('Here: [{"a":1},{"a":2}]')).toBeNull()
  expect(data('As in [1]: {"a":1} [2]')).toEqual({ a: 1 })
  expect(data('[see {"a":1}]')).toEqual({ a: 1 })
})

test('problems are reported for the intended answer', () => {
  const details = (text: string) => {
    const read = readAnswer(text, SCHEMA)
    return read.data ? [] : read.details.map(({ path, message }) => `${path} ${message}`)
  }
  expect(details('Sorry.')).toEqual(['data is not JSON'])
  expect(details('[1]')).toEqual(['data must be object'])
  expect(details('So: {"a":"one"}')).toEqual(['data.a must be integer'])
  expect(details('x'.repeat(MAX_ANSWER + 1))).toEqual(['data is longer than 1,000,000 characters'])
})
