import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodiesOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/hulls'
import {
  canConnect,
  connect,
  connectionTargets,
  disconnect,
  FIRST_BOUND,
  reconnect,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/connect'
import { START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import { cyclesOf } from '@/server/definition/graph'
import { backEdges, boundOf, loopThrough } from '@/server/definition/loops'
import type { Definition } from '@/server/definition/schema'
import { checkGraph } from '@/server/workflows/check/graph'
import { rounds } from '../support/rounds'
import { catalog, definitions, EXITS, soundDefinitions } from './graphs'

/** Counts the errors that make a graph invalid. The server checks references only without such errors. */
const GRAPH = [
  'DANGLING_EDGE',
  'AMBIGUOUS_EDGES',
  'UNKNOWN_EXIT',
  'CYCLE',
  'CYCLE_WITHOUT_BOUND',
  'PAUSE_IN_CLEANUP',
  'UNKNOWN_INITIAL_STEP',
  'REGION_ENTERED',
]
const graphProblems = (definition: Definition) =>
  checkGraph(definition).filter(({ severity, code }) => severity === 'error' && GRAPH.includes(code))
const key = ({ code, stepId }: { code: string; stepId?: string }) =>
  code.startsWith('CYCLE') ? 'CYCLE' : `${code} ${stepId}`

describe('canConnect agrees with the server', () => {
  const pick = fc.tuple(definitions, fc.nat(20), fc.nat(20), fc.constantFrom(...EXITS))

  test('an allowed edge adds no problem; a refused one would', () => {
    let allowed = 0
    let refused = 0
    fc.assert(
      fc.property(pick, ([definition, i, j, exit]) => {
        fc.pre(definition.steps.length > 0)
        const at = (n: number) => definition.steps[n % definition.steps.length]?.id ?? ''
        const [from, to] = [at(i), at(j)]
        const answer = canConnect(definition, catalog, from, exit, to)
        const connected = connect(definition, from, exit, to)
        const before = new Set(graphProblems(definition).map(key))
        const made = graphProblems(connected).filter((problem) => !before.has(key(problem)))
        if (answer.ok) {
          allowed++
          expect(made).toEqual([])
          expect(connected.edges.filter((edge) => edge.from === from && edge.to === to).length).toBeGreaterThan(0)
        } else {
          refused++
          expect(answer.reason).toMatch(/^[A-Z\w].*\.$/)
          // Also refused: an edge that already exists, and one whose problem an earlier fault of the draft hides.
          if (made.length === 0 && before.size === 0) expect(answer.reason).toMatch(/ already leads to /)
        }
      }),
      { numRuns: rounds(500, 8000) },
    )
    expect(allowed).toBeGreaterThan(30)
    expect(refused).toBeGreaterThan(100)
  })

  test('in a sound draft, an allowed edge keeps it sound, and a loop that it closes has a bound', () => {
    let loops = 0
    fc.assert(
      fc.property(soundDefinitions, fc.nat(20), fc.nat(20), fc.constantFrom(...EXITS), (definition, i, j, exit) => {
        fc.pre(definition.steps.length > 0)
        const at = (n: number) => definition.steps[n % definition.steps.length]?.id ?? ''
        const [from, to] = [at(i), at(j)]
        if (!canConnect(definition, catalog, from, exit, to).ok) return
        const connected = connect(definition, from, exit, to)
        expect(graphProblems(connected)).toEqual([])
        const others = (steps: Definition['steps']) => steps.filter(({ id }) => id !== to)
        expect(others(connected.steps)).toEqual(others(definition.steps))
        if (!loopThrough(connected, from, to)) {
          expect(connected.steps).toEqual(definition.steps)
          return
        }
        loops++
        const back = backEdges(connected)
        expect(back.size).toBeGreaterThan(0)
        // Taken together, the edges that lead back make up every loop.
        expect(cyclesOf({ ...connected, edges: connected.edges.filter((edge) => !back.has(edge)) })).toEqual([])
      }),
      { numRuns: rounds(500, 8000) },
    )
    expect(loops).toBeGreaterThan(5)
  })

  test('START can lead to any step, and no step to START', () => {
    fc.assert(
      fc.property(definitions, (definition) => {
        for (const { id } of definition.steps) {
          expect(canConnect(definition, catalog, START, 'next', id).ok).toBe(definition.initialStep !== id)
          expect(connect(definition, START, 'next', id).initialStep).toBe(id)
          expect(canConnect(definition, catalog, id, 'next', START)).toEqual({
            ok: false,
            reason: 'Nothing can lead to START.',
          })
        }
      }),
    )
  })
})

const chain: Definition = {
  name: 'n',
  description: '',
  initialStep: 'a',
  payload: {},
  steps: [
    { id: 'a', type: 'call-tool', name: 'Look up' },
    { id: 'b', type: 'collect-inputs' },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [
    { from: 'a', to: 'b', label: 'kept' },
    { from: 'b', to: 'end' },
  ],
}

test('a refusal is a sentence with the names people see', () => {
  const reason = (from: string, to: string, exit = 'next', definition = chain) => {
    const answer = canConnect(definition, catalog, from, exit, to)
    return answer.ok ? `replaces ${answer.replaces}` : answer.reason
  }
  expect(reason('a', 'a')).toBe('A run could never leave the loop Look up → Look up. Give it a way out first.')
  expect(reason('b', 'a')).toBe('A run could never leave the loop Look up → b → Look up. Give it a way out first.')
  expect(reason('b', 'a', 'error')).toBe('replaces null')
  expect(reason('end', 'a')).toBe('end ends the run, so nothing can follow it.')
  expect(reason('a', 'b')).toBe('Look up already leads to b.')
  expect(reason('a', 'end', 'x')).toBe('Look up has no exit x.')
  expect(reason('a', 'end')).toBe('replaces b')
  expect(reason('a', 'gone')).toBe('There is no step gone.')
  const cleanup = { ...chain, onCancel: 'tidy', steps: [...chain.steps, { id: 'tidy', type: 'call-tool' }] }
  expect(reason('tidy', 'b', 'next', cleanup)).toBe('b waits, and no step on the cleanup path may do that.')
})

test('connect replaces the edge of an exit in place, disconnect removes it, and START always leads to a step', () => {
  expect(connect(chain, 'a', 'next', 'end').edges).toEqual([
    { from: 'a', to: 'end' },
    { from: 'b', to: 'end' },
  ])
  expect(disconnect(chain, 'a', 'next').edges).toEqual([{ from: 'b', to: 'end' }])
  expect(disconnect(chain, START, 'next')).toBe(chain)
  expect(
    connectionTargets(chain, catalog, 'b', 'next').map(({ step, connection }) => [step.id, connection.ok]),
  ).toEqual([
    ['a', false],
    ['b', false],
    ['end', false],
  ])
})

/** ask → check, which continues to done; asked again, it leads back. */
const asking: Definition = {
  ...chain,
  initialStep: 'ask',
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { sum: { type: 'number' } } },
    { id: 'check', type: 'condition', when: '${sum} > 0' },
    { id: 'done', type: 'end-flow' },
  ],
  edges: [
    { from: 'ask', to: 'check' },
    { from: 'check', to: 'done', on: 'true' },
  ],
}
const boundsIn = (definition: Definition) =>
  Object.fromEntries(
    definition.steps.flatMap(({ id, maxVisits }) => (maxVisits === undefined ? [] : [[id, maxVisits]])),
  )

describe('an edge that leads back', () => {
  test('bounds the step it leads to, unless the loop has a bound already', () => {
    const looped = connect(asking, 'check', 'false', 'ask')
    expect(boundsIn(looped)).toEqual({ ask: FIRST_BOUND })
    expect(graphProblems(looped)).toEqual([])
    const known = {
      ...asking,
      steps: asking.steps.map((step) => (step.id === 'check' ? { ...step, maxVisits: 3 } : step)),
    }
    expect(boundsIn(connect(known, 'check', 'false', 'ask'))).toEqual({ check: 3 })
    expect(boundsIn(connect(asking, 'check', 'false', 'check'))).toEqual({ check: FIRST_BOUND })
    expect(boundsIn(connect(asking, 'check', 'false', 'done'))).toEqual({})
  })

  test('says how often a run can take it: the smallest bound that every round meets', () => {
    const looped = connect(asking, 'check', 'false', 'ask')
    const [edge] = backEdges(looped)
    expect(edge).toEqual({ from: 'check', to: 'ask', on: 'false' })
    if (!edge) throw new Error('no edge leads back')
    expect(boundOf(looped, edge)).toBe(FIRST_BOUND)
    const beside = { id: 'beside', type: 'condition', when: 'true', maxVisits: 2 }
    // A bound of a step that a round can bypass does not count.
    const around: Definition = {
      ...looped,
      steps: [...looped.steps, beside],
      edges: [...looped.edges, { from: 'ask', to: 'beside', on: 'error' }, { from: 'beside', to: 'check', on: 'true' }],
    }
    expect(boundOf(around, edge)).toBe(FIRST_BOUND)
  })

  test('may be the only way on from an exit, but not from every exit', () => {
    const looped = connect(asking, 'check', 'false', 'ask')
    expect(canConnect(looped, catalog, 'check', 'true', 'ask')).toMatchObject({ ok: false })
    expect(canConnect(disconnect(looped, 'check', 'true'), catalog, 'check', 'true', 'ask')).toMatchObject({
      ok: false,
    })
  })
})

test('an end of an edge can be led elsewhere, to another step or from another exit', () => {
  const edge = { from: 'check', exit: 'true' }
  expect(reconnect(asking, catalog, edge, { from: 'check', exit: 'false', to: 'done' })).toMatchObject({
    definition: { edges: [asking.edges[0], { from: 'check', to: 'done', on: 'false' }] },
  })
  expect(reconnect(asking, catalog, edge, { from: 'check', exit: 'true', to: 'ask' })).toMatchObject({
    definition: { edges: [asking.edges[0], { from: 'check', to: 'ask', on: 'true' }] },
  })
  expect(reconnect(asking, catalog, edge, { from: 'done', exit: 'next', to: 'ask' })).toEqual({
    reason: 'done ends the run, so nothing can follow it.',
  })
})

describe('the body of a branch', () => {
  const step = (id: string, type: string, more = {}) => ({ id, type, name: id.toUpperCase(), ...more })
  const drawn: Definition = {
    name: 'Body',
    description: '',
    payload: {},
    initialStep: 'first',
    steps: [
      step('first', 'delay', { for: 'PT1S' }),
      step('each', 'for-each', { items: '${list}' }),
      step('save', 'set-data', { values: {} }),
      step('end', 'end-flow'),
    ],
    edges: [
      { from: 'first', to: 'each' },
      { from: 'each', to: 'save', on: 'each' },
      { from: 'each', to: 'end', on: 'done' },
    ],
  }

  test('is entered by its exit alone, does not lead out, and does not lead back to its own step', () => {
    const answer = (from: string, exit: string, to: string) => {
      const connection = canConnect(drawn, catalog, from, exit, to)
      return connection.ok ? 'allowed' : connection.reason
    }
    const branch = 'the branch For each item of EACH'
    expect(answer('first', 'error', 'save')).toBe(`SAVE belongs to ${branch}, so FIRST cannot lead there.`)
    expect(answer('save', 'next', 'end')).toBe(
      `Then END would belong to ${branch}, but EACH leads there from outside. A branch ends where its steps end.`,
    )
    expect(answer('save', 'next', 'each')).toBe(
      'The branch For each item of EACH cannot lead back to EACH: it ends where its steps end.',
    )
    expect(answer('save', 'next', 'first')).toContain('cannot lead back')
    expect(answer('first', 'error', 'end')).toBe('allowed')
  })

  test('gets a step that is led there from outside', () => {
    const moved = reconnect(drawn, catalog, { from: 'each', exit: 'done' }, { from: 'save', exit: 'next', to: 'end' })
    expect('definition' in moved && bodiesOf(moved.definition, catalog).map(({ steps }) => [...steps])).toEqual([
      ['save', 'end'],
    ])
  })
})
