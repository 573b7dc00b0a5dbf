import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffGraphs, type GraphDiff, START_NODE, type StepOnBoth, sameGraph } from '@/server/definition/diff-graph'
import type { ExitSpec } from '@/server/definition/exits'
import type { Definition, Step } from '@/server/definition/schema'
import { catalog, definitions } from '../editor/graphs'
import { rounds } from '../support/rounds'

const exits = new Map<string, ExitSpec>(catalog.steps.map(({ type, exits }) => [type, exits]))
const specOf = ({ type }: Step) => exits.get(type)
const diff = (before: Definition, after: Definition) => diffGraphs(before, after, specOf)

/** A chain of steps in the order of their names: `a>b>c`. */
function chain(text: string, patch: Record<string, object> = {}): Definition {
  const ids = text.split('>')
  return {
    name: 'n',
    description: '',
    initialStep: ids[0] ?? null,
    payload: {},
    steps: ids.toSorted().map((id) => ({ id, type: 'set-data', values: { [`of_${id}`]: 1 }, ...patch[id] })),
    edges: ids.slice(1).map((to, i) => ({ from: ids[i] ?? '', to })),
  }
}

const kinds = ({ steps }: GraphDiff) =>
  Object.fromEntries(steps.flatMap(({ id, kind }) => (kind === 'same' ? [] : [[id, kind]])))
const lines = ({ edges }: GraphDiff) =>
  edges.flatMap(({ from, to, kind, elsewhere }) =>
    kind === 'same' ? [] : [`${kind} ${from} ${to}${elsewhere ? ' elsewhere' : ''}`],
  )

describe('the union of two definitions', () => {
  test('of a definition with itself is all the same, however its boxes were dragged', () => {
    fc.assert(
      fc.property(definitions, (one) => {
        const dragged = { ...one, steps: one.steps.map((step, x) => ({ ...step, position: { x, y: 1 } })) }
        for (const other of [one, dragged]) expect(sameGraph(diff(one, other))).toBe(true)
      }),
      { numRuns: rounds(75, 1200) },
    )
  })

  test('has every step and every connection of both, each once', () => {
    fc.assert(
      fc.property(definitions, definitions, (before, after) => {
        const { steps, edges } = diff(before, after)
        const ids = steps.map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        const seen = new Set([...ids, ...steps.flatMap(({ was }) => was ?? [])])
        for (const { id } of [...before.steps, ...after.steps]) expect(seen).toContain(id)
        const now = new Map(steps.flatMap(({ id, was }) => (was === null ? [] : [[was, id]])))
        const of = (id: string) => now.get(id) ?? id
        const drawn = edges.map(({ from, exit, to }) => `${from} ${exit} ${to}`)
        for (const edge of after.edges) expect(drawn).toContain(`${edge.from} ${edge.on ?? 'next'} ${edge.to}`)
        for (const edge of before.edges) expect(drawn).toContain(`${of(edge.from)} ${edge.on ?? 'next'} ${of(edge.to)}`)
        expect(new Set(drawn).size).toBe(drawn.length)
      }),
      { numRuns: rounds(75, 1200) },
    )
  })

  test('the other way round, what was added is removed, and the rest is as it was', () => {
    const told = ({ steps }: GraphDiff, kind: StepOnBoth['kind']) =>
      steps.filter((step) => step.kind === kind).map(({ id }) => id)
    fc.assert(
      fc.property(definitions, definitions, (before, after) => {
        const [one, other] = [diff(before, after), diff(after, before)]
        // Which of several equal steps got which id is a guess.
        fc.pre(told(one, 'renamed').length === 0)
        expect(new Set(told(other, 'added'))).toEqual(new Set(told(one, 'removed')))
        expect(new Set(told(other, 'removed'))).toEqual(new Set(told(one, 'added')))
        expect(new Set(told(other, 'changed'))).toEqual(new Set(told(one, 'changed')))
        const swapped = { added: 'removed', removed: 'added', same: 'same' }
        const turned = other.edges.map(({ kind, ...edge }) => ({ kind: swapped[kind], ...edge }))
        expect(new Set(turned.map((edge) => JSON.stringify(edge)))).toEqual(
          new Set(one.edges.map(({ kind, ...edge }) => JSON.stringify({ kind, ...edge }))),
        )
      }),
      { numRuns: rounds(75, 1200) },
    )
  })

  test('a step is changed, with its fields, added, or removed', () => {
    const found = diff(chain('a>b>c', { a: { values: { x: 1 } } }), chain('a>x>c', { a: { values: { x: 2 } } }))
    expect(kinds(found)).toEqual({ a: 'changed', b: 'removed', x: 'added' })
    expect(found.steps.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'x'])
    expect(found.steps[0]?.fields).toEqual([{ path: 'values.x', before: 1, after: 2 }])
    expect(lines(found)).toEqual(['added a x elsewhere', 'added x c', 'removed a b elsewhere', 'removed b c'])
  })

  test('a step with another id but nothing else is renamed, and its connections are the same', () => {
    const found = diff(chain('a>b>c'), chain('a>z>c', { z: { values: { of_b: 1 } } }))
    expect(kinds(found)).toEqual({ z: 'renamed' })
    expect(found.steps.find(({ id }) => id === 'z')?.was).toBe('b')
    expect(lines(found)).toEqual([])
  })

  test('of several equal steps, that beside the same neighbours is the renamed one', () => {
    const plain = { values: {} }
    const found = diff(chain('a>p>b>q', { p: plain, q: plain }), chain('a>y>b>x', { x: plain, y: plain }))
    expect(found.steps.flatMap(({ id, was }) => (was === null ? [] : [`${was} ${id}`])).sort()).toEqual(['p y', 'q x'])
  })

  test('only the step that was moved counts as moved, not those that now follow others', () => {
    expect(kinds(diff(chain('a>x>b>c>d'), chain('a>b>c>d>x')))).toEqual({ x: 'moved' })
    expect(kinds(diff(chain('a>b>c>d'), chain('a>c>b>d')))).toEqual({ c: 'moved' })
    expect(kinds(diff(chain('a>b'), chain('a>new>b')))).toEqual({ new: 'added' })
    expect(kinds(diff(chain('a>old>b'), chain('a>b')))).toEqual({ old: 'removed' })
  })

  test('a connection that comes or goes moves nothing', () => {
    const one = chain('a>b>c')
    const found = diff(one, { ...one, edges: [...one.edges, { from: 'a', to: 'c', on: 'error' }] })
    expect(kinds(found)).toEqual({})
    expect(lines(found)).toEqual(['added a c'])
  })

  test('a step that is in another body is moved', () => {
    const fork = { type: 'for-each', items: '${list}' }
    const one = chain('a>b>c', { a: fork })
    const after = {
      ...one,
      edges: [
        { from: 'a', to: 'b', on: 'each' },
        { from: 'a', to: 'c', on: 'done' },
      ],
    }
    const before = {
      ...one,
      edges: [
        { from: 'a', to: 'b', on: 'done' },
        { from: 'b', to: 'c' },
      ],
    }
    expect(kinds(diff(before, after))).toEqual({ b: 'moved' })
  })

  test('another first step is a connection of START that leads elsewhere', () => {
    const one = chain('a>b')
    const found = diff(one, { ...one, initialStep: 'b', edges: [{ from: 'b', to: 'a' }] })
    expect(lines(found)).toContain(`added ${START_NODE} b elsewhere`)
    expect(lines(found)).toContain(`removed ${START_NODE} a elsewhere`)
  })

  test('2,000 steps in the opposite order take less than two seconds', () => {
    const ids = Array.from({ length: 2000 }, (_, i) => `s${String(i).padStart(4, '0')}`)
    const started = performance.now()
    diff(chain(ids.join('>')), chain(ids.toReversed().join('>')))
    expect(performance.now() - started).toBeLessThan(2000)
  })
})
