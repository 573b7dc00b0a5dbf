import { expect, test } from 'vitest'
import { asSentence, named, underField } from '@/app/_ui/sentence'
import { errorsByField } from '@/app/(dashboard)/[tenant]/inbox/answer/answer-values'
import {
  inWords,
  inWordsAt,
  inWordsBehind,
  problemUnderField,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/problem-words'
import { checkFields } from '@/server/definition/fields'
import type { Definition, Fields } from '@/server/definition/schema'
import { parseInput } from '@/server/parse'
import { stepTypes } from '@/server/steps/registry'
import { checkGraph } from '@/server/workflows/check/graph'
import { CreateWorkflow } from '@/server/workflows/schema'

const begins = /^(?:[A-Z“\d]|\$\{)/

test('what stands alone begins with a capital letter, except a name of the definition', () => {
  expect(asSentence('must not be empty')).toBe('Must not be empty')
  expect(asSentence('payload.a.lable is unknown')).toBe('payload.a.lable is unknown')
  expect(asSentence('ask ends the run, so no edge may leave it.')).toBe('ask ends the run, so no edge may leave it.')
  expect([underField('is required'), underField('has two actions with the same id')]).toEqual([
    'Required',
    'Has two actions with the same id',
  ])
  expect([named('name', 'is required'), named('name', 'Too long.'), named(undefined, 'is required')]).toEqual([
    'name is required',
    'name: Too long.',
    'Is required',
  ])
  expect(inWords('must be integer')).toBe('Must be a whole number')
  const unknown = { severity: 'warning', code: 'W_UNKNOWN_FIELD', stepId: 'end', field: 'result' } as const
  expect(inWordsBehind({ ...unknown, message: 'result is unknown and has no effect.' })).toBe(
    'Is unknown and has no effect.',
  )
  expect(inWordsBehind({ ...unknown, message: 'Something else.' })).toBe('Something else.')
  expect(inWordsAt('args.n', 'must be integer')).toBe('args.n must be a whole number')
})

test('every problem of a step that is not filled in is a sentence under its field, in our words', () => {
  const told = stepTypes().flatMap(({ type, form }) =>
    [
      {},
      ...['', null, [], {}, -1, true].map((value) =>
        Object.fromEntries(Object.keys(form).map((name) => [name, value])),
      ),
    ].flatMap((config) => {
      const steps = [{ id: 's', type, ...config }]
      const draft = { name: 'W', description: '', initialStep: 's', steps, edges: [], payload: {} }
      return checkGraph(draft as unknown as Definition).filter(({ code }) => code === 'INVALID_CONFIG')
    }),
  )
  expect(told.length).toBeGreaterThan(100)
  for (const { message } of told) {
    expect(problemUnderField(message), message).toMatch(begins)
    expect(message).not.toMatch(/expected|received|too (small|big)|invalid (input|option)/i)
  }
})

test('the problems of a form are sentences about its labels', () => {
  const fields: Fields = {
    amount: { type: 'integer', label: 'The amount' },
    kind: { type: 'string', options: ['a', 'b'] },
    day: { type: 'string' },
  }
  const { details } = checkFields(fields, { amount: 'x', kind: 'c' })
  const { byField, rest } = errorsByField(details, fields)
  expect(byField).toEqual({
    amount: 'Must be an integer, not string',
    kind: 'Must be one of "a", "b"',
    day: 'Required',
  })
  expect(rest).toEqual([])
})

test('a body that misses everything is refused in our words', () => {
  try {
    parseInput(CreateWorkflow, { name: '', steps: [{}], edges: [{ from: '' }], limits: { timeoutMs: 0 } })
    throw new Error('It was accepted.')
  } catch (err) {
    const { details = [] } = err as { details?: { path?: string; message: string }[] }
    expect(details.length).toBeGreaterThan(4)
    for (const { message } of details) expect(asSentence(message)).toMatch(begins)
  }
})
