import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  canConnect,
  connect,
  connectionTargets,
  disconnect,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/connect'
import { START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import type { Definition } from '@/server/definition/schema'
import { checkGraph } from '@/server/workflows/check/graph'
import { rounds } from '../support/rounds'
import { catalog, definitions } from './graphs'

/** Counts the errors that make a graph invalid. The server checks references only when there are none. */
const GRAPH = [
  'DANGLING_EDGE',
  'AMBIGUOUS_EDGES',
  'UNKNOWN_EXIT',
  'CYCLE',
  'CYCLE_WITHOUT_BOUND',
  'PAUSE_IN_CLEANUP',
  'UNKNOWN_INITIAL_STEP',
]
const graphProblems = (definition: Definition) =>
  checkGraph(definition).filter(({ severity, code }) => severity === 'error' && GRAPH.includes(code))
const key = ({ code, stepId }: { code: string; stepId?: string }) =>
  code.startsWith('CYCLE') ? 'CYCLE' : `${code} ${stepId}`

describe('canConnect agrees with the server', () => {
  const pick = fc.tuple(definitions, fc.nat(20), fc.nat(20), fc.constantFrom('next', 'next', 'odd', 'error'))

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
  expect(reason('a', 'a')).toBe('A step cannot lead to itself.')
  expect(reason('b', 'a')).toBe('This would make a loop: Look up → b → Look up.')
  expect(reason('end', 'a')).toBe('end ends the run, so nothing can follow it.')
  expect(reason('a', 'b')).toBe('Look up already leads to b.')
  expect(reason('a', 'end', 'x')).toBe('Look up has no exit x.')
  expect(reason('a', 'end')).toBe('replaces b')
  expect(reason('a', 'gone')).toBe('There is no step gone.')
  const cleanup = { ...chain, onCancel: 'tidy', steps: [...chain.steps, { id: 'tidy', type: 'call-tool' }] }
  expect(reason('tidy', 'b', 'next', cleanup)).toBe(
    'b waits for a person, and no step on the clean-up path may do that.',
  )
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
    ['end', false],
  ])
})
