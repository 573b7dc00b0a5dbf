import { expect, test } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import { lookupWith } from '@/server/interpreter/flow/index'
import { claimsAt, misfitsOf } from '@/server/workflows/check/fits'
import { flowOf } from '@/server/workflows/check/flow'

// Whether the data of a run fits where it would stand in a version.

const ends = { id: 'end', type: 'end-flow', output: { total: '${total}' } }
const asks = { id: 'ask', type: 'collect-inputs', output: { city: { type: 'string' } } }

function line(steps: Definition['steps'], rest: Partial<Definition> = {}): Definition {
  const edges = steps.slice(1).map(({ id }, at) => ({ from: steps[at]?.id ?? '', to: id }))
  const payload: Definition['payload'] = { amount: { type: 'number' }, note: { type: 'string', required: false } }
  return { name: 'n', description: '', initialStep: steps[0]?.id ?? null, payload, steps, edges, ...rest }
}

function told(definition: Definition, stepId: string, data: JsonObject, outputs: JsonObject = {}): string[] {
  return misfitsOf(claimsAt(definition, flowOf(definition), stepId), lookupWith(data, outputs)).map(
    ({ name, claimed, found, stepId }) => `${stepId} ${name}: ${claimed}, not ${found}`,
  )
}

const computes = { id: 'sum', type: 'set-data', compute: { total: '${amount} * 2' } }
const calls = {
  id: 'pay',
  type: 'http-request',
  method: 'POST',
  url: 'https://example.com',
  body: { total: '${total}' },
  saveAs: 'paid',
}

test('a name that a step from there on reads must be there, and have the type that the version claims', () => {
  const version = line([computes, calls, asks, ends])
  expect(told(version, 'pay', { amount: 1, total: 2 })).toEqual([])
  expect(told(version, 'pay', { amount: 1 })).toEqual(['pay total: a number, not nothing'])
  expect(told(version, 'pay', { amount: 1, total: 'two' })).toEqual(['pay total: a number, not a string'])
  // Nothing from the question on reads the amount, so it may be missing.
  expect(told(version, 'ask', { total: 2 })).toEqual([])
  expect(told(version, 'ask', {})).toEqual(['end total: a number, not nothing'])
})

test('what is set again before it is read may have any value, and what nothing reads too', () => {
  const version = line([asks, computes, ends])
  expect(told(version, 'ask', { amount: 1, total: 'of an older version', other: 5 })).toEqual([])
  expect(told(version, 'ask', { amount: '1' })).toEqual(['sum amount: a number, not a string'])
})

test('an optional name may be missing, and must have its type if it is there', () => {
  const version = line([asks, { ...ends, output: { note: '${note ?? "none"}', later: '${later ?? 0}' } }])
  expect(told(version, 'ask', {})).toEqual([])
  expect(told(version, 'ask', { note: 'x' })).toEqual([])
  expect(told(version, 'ask', { note: 5 })).toEqual(['end note: a string, not a number'])
})

test('a message names the place inside a value, and no value', () => {
  const inside = line([computes, { ...calls, body: { a: '${sum.total}' } }])
  expect(told(inside, 'pay', { amount: 1 }, { sum: { total: 'secret' } })).toEqual([
    'pay sum.total: a number, not a string',
  ])
  expect(told(inside, 'pay', { amount: 1 }, { sum: { total: 1, secret: 5 } })).toEqual([
    'pay sum: an object without further fields, not an object with others',
  ])
  expect(told(inside, 'pay', { amount: 1 }, { sum: {} })).toEqual(['pay sum.total: a number, not nothing'])
})

test('a step that reads all run data claims each field of it, and one of its fields alone', () => {
  const all = line([computes, { ...calls, body: { data: '${_}' } }])
  expect(told(all, 'pay', { amount: 1, total: 2, other: 'kept' })).toEqual([])
  expect(told(all, 'pay', { amount: 'one', total: 2 })).toEqual(['pay amount: a number, not a string'])
  const one = line([computes, { ...calls, body: { data: '${_.total}' } }])
  expect(told(one, 'pay', { amount: 'one', total: 'two' })).toEqual(['pay total: a number, not a string'])
  const skips = line([computes, { ...asks, output: { total: { type: 'number' } }, skipWhenPresent: true }])
  expect(told(skips, 'ask', { amount: 1, total: 'two' })).toEqual(['ask total: a number, not a string'])
})

test('the cleanup path and the failure path count, and so do the steps and the result of branches', () => {
  const undo = {
    id: 'undo',
    type: 'http-request',
    method: 'POST',
    url: 'https://example.com',
    body: { a: '${amount}' },
  }
  const cleans = line([asks, { ...ends, output: {} }, undo], { onCancel: 'undo', edges: [{ from: 'ask', to: 'end' }] })
  expect(told(cleans, 'ask', { amount: 'one' })).toEqual(['undo amount: a number, not a string'])
  const forks: Definition = line(
    [
      asks,
      { id: 'each', type: 'for-each', items: '${list}', result: '${amount}' },
      { id: 'in', type: 'set-data', compute: { x: '${note} + ${item}' } },
      { ...ends, output: {} },
    ],
    {
      payload: { amount: { type: 'number' }, note: { type: 'string' }, list: { type: 'array' } },
      edges: [
        { from: 'ask', to: 'each' },
        { from: 'each', to: 'in', on: 'each' },
        { from: 'each', to: 'end', on: 'done' },
      ],
    },
  )
  expect(told(forks, 'ask', { amount: 1, note: 'a', list: [] })).toEqual([])
  expect(told(forks, 'ask', { amount: 'one', note: 1, list: {} })).toEqual([
    'each list: a list, not an object',
    'each amount: a number, not a string',
    'in note: a string, not a number',
  ])
})
