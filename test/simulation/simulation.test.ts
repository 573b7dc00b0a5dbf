import { afterEach, describe, expect, test, vi } from 'vitest'
import { FAILED_ONCE } from './seeds'
import { type Simulation, simulateFrom, startSimulation } from './world'

// A random small workflow on a real database, with the interpreter called as an engine calls it, except that a seed
// decides what happens next: events arrive twice, late or in another order, calls are lost and taken over while their
// process lives on, people answer, stop, repeat and move runs in between, and the clock moves in jumps. See `simulate.ts`. To
// repeat one seed: SIM_FROM=<seed> SIM_SEEDS=1.

vi.mock('@/server/clock', async () => (await import('./stand-ins')).clock())
vi.mock('@/server/give-way', async (original) => (await import('./stand-ins')).giveWay(original))
vi.mock('@/server/interpreter/notice/running', async (original) => (await import('./stand-ins')).running(original))
vi.mock('@/server/steps/test-effect', async (original) => (await import('./stand-ins')).testEffect(original))

const FIRST = Number(process.env.SIM_FROM ?? 1)
const SEEDS = Number(process.env.SIM_SEEDS ?? 50)

let simulation: Simulation
afterEach(() => simulation.close())

test('in any order of deliveries, however often and late, every invariant is true', async () => {
  simulation = await startSimulation()
  const { violations, effects, compared, moved, modes } = await simulateFrom(simulation, FIRST, SEEDS)
  expect(violations).toEqual([])
  // They are effective: steps do work, most runs end as their graph predicts, and each driver of walks is used.
  if (SEEDS < 50) return
  expect(effects).toBeGreaterThan(SEEDS)
  expect(compared).toBeGreaterThan(SEEDS * 0.4)
  expect(moved).toBeGreaterThan(SEEDS * 0.4)
  expect([...modes].sort()).toEqual(['inngest', 'own', 'sdk'])
})

test('seeds that found something once find nothing any more', async () => {
  simulation = await startSimulation()
  expect((await simulation.run(FAILED_ONCE, { moves: false })).violations).toEqual([])
})

/** Guards in the product's statements, and the seeds that detect a missing one. */
const GUARDS: Record<string, { guard: string; finds: RegExp }> = {
  'an attempt that was taken over is recorded as well': {
    guard: 'and s.end_time is null and (x.attempt is null or s.attempt = x.attempt)',
    finds: /I14/,
  },
  'a walk is planned twice from one cursor': {
    guard: '(x.from_step is null or (w.step_id = x.from_step and w.visit = x.from_visit))\n          and ',
    finds: /I19|graph/,
  },
}

describe('finds a planted fault', () => {
  test.for(Object.entries(GUARDS))('%s', async ([, { guard, finds }]) => {
    let planted = 0
    simulation = await startSimulation((text) => {
      const without = text.replaceAll(guard, '')
      if (without !== text) planted++
      return without
    })
    const { violations } = await simulateFrom(simulation, 1, 400, (found) => found.violations.length > 0)
    expect(planted).toBeGreaterThan(0)
    expect(violations.join('\n')).toMatch(finds)
  })
})
