import { expect, test } from 'vitest'
import { Effort } from '@/server/definition/effort'
import { nearestName } from '@/server/definition/nearest'
import type { Definition, Step } from '@/server/definition/schema'
import { inSlices } from '@/server/give-way'
import { flowing } from '@/server/workflows/check/flow'
import { checkingGraph } from '@/server/workflows/check/graph'
import { scopeOf } from '@/server/workflows/check/scope'
import { held, LONGEST_HOLD_MS, slowness } from '../support/held'

const named = (letter: string, at: number) => `${letter}${String(at).padStart(5, '0')}_of_order`

/** Steps in a row, each with references to names that START nearly has. */
function nearlyRight(fields: number, steps: number, references: number): Definition {
  const all: Step[] = Array.from({ length: steps }, (_, at) => ({
    id: `s${at}`,
    type: 'set-data',
    values: Object.fromEntries(
      Array.from({ length: references }, (_, nth) => [
        `v${nth}`,
        `\${${named('z', (at * references + nth) % fields)}}`,
      ]),
    ),
  }))
  return {
    name: 'n',
    description: '',
    initialStep: 's0',
    payload: Object.fromEntries(Array.from({ length: fields }, (_, at) => [named('f', at), { type: 'string' }])),
    steps: all,
    edges: all.slice(1).map(({ id }, at) => ({ from: `s${at}`, to: id })),
  }
}

test.each([
  ['13 KB', nearlyRight(200, 10, 20)],
  ['104 KB', nearlyRight(2_500, 5, 20)],
  ['1 MB', nearlyRight(2_500, 1_200, 20)],
])(
  'a check of %s full of names that nearly exist holds the event loop for less than 250 ms',
  async (_size, written) => {
    const { result, mostMs } = await held(() => inSlices('a', checkingGraph(written)))
    expect(mostMs / slowness()).toBeLessThan(LONGEST_HOLD_MS)
    // Each is found, and the first ones have a suggestion.
    const unresolved = result.filter(({ code }) => code === 'EXPRESSION_UNRESOLVED')
    expect(unresolved).toHaveLength(written.steps.length * 20)
    expect(unresolved[0]?.suggestion).toBe(named('f', 0))
  },
)

test('finding the possible references of a step of 1 MB of steps holds the event loop for less than 250 ms', async () => {
  const written = nearlyRight(2_500, 1_200, 20)
  const { result, mostMs } = await held(async () => scopeOf(written, 's1100', await inSlices('a', flowing(written))))
  expect(mostMs / slowness()).toBeLessThan(LONGEST_HOLD_MS)
  expect(result.entries.length).toBeGreaterThan(3_600)
})

test('looking for names ends when its effort is spent, and says nothing rather than something wrong', () => {
  const names = Array.from({ length: 2_500 }, (_, at) => named('f', at))
  const effort = new Effort(1_000_000)
  const found = Array.from({ length: 2_500 }, (_, at) => nearestName(named('z', at), names, effort))
  const [some, none] = [found.filter((name) => name !== null), found.filter((name) => name === null)]
  expect(some).toEqual(some.map((_, at) => named('f', at)))
  expect(some.length).toBeGreaterThan(10)
  expect(none.length).toBeGreaterThan(1_000)
})
