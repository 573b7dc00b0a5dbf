import { expect, test } from 'vitest'
import type { Definition, Step } from '@/server/definition/schema'
import { MAX_WORK } from '@/server/definition/types/flow'
import { ANY, wordsFor } from '@/server/definition/types/type'
import { flowOf } from '@/server/workflows/check/flow'
import { checkGraph } from '@/server/workflows/check/graph'

// The cost of typing the largest definitions: counted, not timed.

type Edges = Definition['edges']

function definition(steps: Step[], edges: Edges): Definition {
  const payload: Definition['payload'] = { n: { type: 'number' }, t: { type: 'string' } }
  return { name: 'n', description: '', initialStep: steps[0]?.id ?? null, payload, steps, edges }
}

/** Steps in a row that each run ten branches, and then one that computes. */
function parallels(count: number, value: (name: string) => Step['values']): Definition {
  const steps: Step[] = []
  const edges: Edges = []
  for (let at = 0; at < count; at++) {
    const ids = Array.from({ length: 10 }, (_, nth) => `p${at}_${nth}`)
    if (at > 0) edges.push({ from: `p${at - 1}`, to: `p${at}`, on: 'done' })
    steps.push({ id: `p${at}`, type: 'parallel', branches: ids.map((id) => ({ id })) })
    for (const id of ids) {
      steps.push({ id, type: 'set-data', values: { [`f${id}`]: value(id) } })
      edges.push({ from: `p${at}`, to: id, on: id })
    }
  }
  steps.push({ id: 'last', type: 'set-data', compute: { wrong: '${n} * ${t}' } })
  edges.push({ from: `p${count - 1}`, to: 'last', on: 'done' })
  return definition(steps, edges)
}

/** Nested loops that lead back from the second half of the steps into the first. */
function loopsInLoops(count: number, value: (at: number) => Step['values']): Definition {
  const steps: Step[] = Array.from({ length: count }, (_, at) => {
    const isBack = at > count / 2 && at < count - 1
    return isBack
      ? { id: `s${at}`, type: 'condition', when: '${n} > 1', maxVisits: 3 }
      : { id: `s${at}`, type: 'set-data', values: { [`v${at % 50}`]: value(at) } }
  })
  const edges: Edges = steps.slice(1).flatMap(({ id }, before) => {
    const from = steps[before]
    if (from?.type !== 'condition') return [{ from: `s${before}`, to: id }]
    const back = { from: from.id, to: `s${count - 1 - before}`, on: 'false' }
    return [{ from: from.id, to: id, on: 'true' }, back]
  })
  steps.push({ id: 'last', type: 'set-data', compute: { wrong: '${n} * ${t}' } })
  return definition(steps, [...edges, { from: `s${count - 1}`, to: 'last' }])
}

const mistakes = (written: Definition) =>
  checkGraph(written).flatMap(({ code, severity }) => (severity === 'error' ? [code] : []))

test('the types of branches put together grow with the steps and the names alone', () => {
  for (const value of [() => 1, () => ({ x: '${_}' })]) {
    const [few, many] = [15, 60].map((count) => {
      const flow = flowOf(parallels(count, value))
      expect(wordsFor(flow.reads('last')('fp3_3').type)).toBe(value() === 1 ? 'a number' : 'an object')
      return flow.typeWork()
    })
    expect(many).toBeLessThan((few ?? 0) * 20)
    expect(many).toBeLessThan(MAX_WORK / 10)
  }
  const largest = parallels(180, () => ({ x: '${_}' }))
  expect(flowOf(largest).typeWork()).toBeLessThan(MAX_WORK / 2)
  expect(mistakes(largest)).toEqual(['TYPE_MISMATCH'])
})

test('of many fields, all run data is only known to be an object', () => {
  const few = flowOf(parallels(5, () => 1)).reads('last')('_').type
  expect(few.props.size).toBeGreaterThan(50)
  expect(few.open).toBe(false)
  const many = flowOf(parallels(15, () => 1)).reads('last')('_').type
  expect([many.props.size, many.open]).toEqual([0, true])
})

test('where types would take too long nothing is claimed, and always of the same definitions', () => {
  const nested = loopsInLoops(2000, (at) => ({ a: `\${v${(at + 1) % 50} ?? 1}`, b: '${_}' }))
  const flow = flowOf(nested)
  expect(flow.reads('last')('n').type).toBe(ANY)
  // No single step takes much.
  expect(flow.typeWork()).toBeLessThan(MAX_WORK * 1.1)
  expect(flowOf(nested).typeWork()).toBe(flow.typeWork())
  expect(mistakes(nested)).toEqual([])
  expect(mistakes(loopsInLoops(20, () => 1))).toEqual(['TYPE_MISMATCH'])
})
