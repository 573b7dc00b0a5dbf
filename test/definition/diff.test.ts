import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffDefinitions, diffValues, sizeOfDiff } from '@/server/definition/diff'
import type { Definition, Field } from '@/server/definition/schema'
import { sameDefinition } from '@/server/workflows/definition'
import { definitions } from '../editor/graphs'
import { rounds } from '../support/rounds'

const base: Definition = {
  name: 'n',
  description: '',
  initialStep: 'a',
  payload: { amount: { type: 'string' } },
  steps: [
    { id: 'a', type: 'call-tool', name: 'First', args: { to: 'x', list: [1, 2] } },
    { id: 'b', type: 'end-flow' },
  ],
  edges: [{ from: 'a', to: 'b' }],
}

test('two definitions differ exactly when the server would save a new version', () => {
  fc.assert(
    fc.property(definitions, definitions, (before, after) => {
      expect(sizeOfDiff(diffDefinitions(before, before))).toBe(0)
      // A duplicate edge adds nothing.
      for (const { edges } of [before, after])
        fc.pre(new Set(edges.map((edge) => JSON.stringify(edge))).size === edges.length)
      for (const other of [after, { ...before, edges: before.edges.map((edge) => ({ ...edge, label: 'x' })) }])
        expect(sizeOfDiff(diffDefinitions(before, other)) === 0).toBe(sameDefinition(before, other))
    }),
    { numRuns: rounds(75, 1200) },
  )
})
test('names the steps, edges and fields that differ, and how a step differs', () => {
  const after: Definition = {
    ...base,
    name: 'm',
    steps: [
      { id: 'a', type: 'call-tool', name: 'First', args: { to: 'y', list: [1] } },
      { id: 'c', type: 'end-flow', name: 'New' },
    ],
    edges: [{ from: 'a', to: 'c' }],
  }
  expect(diffDefinitions(base, after)).toEqual({
    meta: [{ path: 'name', before: 'n', after: 'm' }],
    steps: [
      {
        kind: 'changed',
        stepId: 'a',
        type: 'call-tool',
        name: 'First',
        fields: [
          { path: 'args.to', before: 'x', after: 'y' },
          { path: 'args.list[1]', before: 2 },
        ],
      },
      { kind: 'added', stepId: 'c', type: 'end-flow', name: 'New', fields: [] },
      { kind: 'removed', stepId: 'b', type: 'end-flow', name: null, fields: [] },
    ],
    reordered: false,
    edges: [
      { kind: 'added', from: 'a', to: 'c', exit: 'next' },
      { kind: 'removed', from: 'a', to: 'b', exit: 'next' },
    ],
    payload: [],
  })
  expect(diffDefinitions(base, { ...base, steps: base.steps.toReversed() })).toMatchObject({
    reordered: true,
    steps: [],
  })
  const fields = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  const asking = (...names: string[]) => ({
    ...base,
    steps: [{ id: 'a', type: 'collect-inputs', output: fields(...names) }],
  })
  expect(diffDefinitions(asking('x', 'y'), asking('y', 'x'))).toMatchObject({ reordered: true, steps: [] })
  expect(diffDefinitions(asking('x', 'y'), asking('x', 'z', 'y')).reordered).toBe(false)
  const payload = diffDefinitions({ ...base, payload: fields('x', 'y') }, { ...base, payload: fields('y', 'x') })
  expect(payload).toMatchObject({ reordered: true, payload: [] })
})

describe('changes that break callers of START', () => {
  const breaking = (before: Field | null, after: Field | null) =>
    diffDefinitions({ ...base, payload: before ? { x: before } : {} }, { ...base, payload: after ? { x: after } : {} })
      .payload[0]?.breaking ?? null
  const type = (name: Field['type'], more: Partial<Field> = {}) => ({ type: name, ...more }) as Field

  test('a required field, another type, fewer choices, a removed field', () => {
    expect(breaking(null, type('string'))).toBe('Callers that do not send x get 400.')
    expect(breaking(type('string'), type('number'))).toContain('as string get 400; it must be number now')
    expect(breaking(type('string', { required: false }), type('string'))).toBe('Callers that do not send x get 400.')
    expect(breaking(type('string'), type('string', { options: ['a'] }))).toContain('no longer allowed')
    expect(breaking(type('string'), null)).toContain('no longer reaches the run')
  })

  test('not: an optional field, a wider type, another description, more choices', () => {
    expect(breaking(null, type('string', { required: false }))).toBeNull()
    expect(breaking(null, type('string', { default: 'a' }))).toBeNull()
    expect(breaking(type('integer'), type('number'))).toBeNull()
    expect(breaking(type('string'), type('any'))).toBeNull()
    expect(breaking(type('string'), type('string', { description: 'd', required: false }))).toBeNull()
    expect(breaking(type('string', { options: ['a'] }), type('string', { options: ['b', 'a'] }))).toBeNull()
  })
})

test('diffValues finds nothing between a value and its copy, and something between any two others', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const [one, two] = [a, b].map((value) => JSON.parse(JSON.stringify(value)))
      expect(diffValues(one, structuredClone(one))).toEqual([])
      expect(diffValues(one, two).length === 0).toBe(isDeepStrictEqual(one, two))
    }),
  )
})
