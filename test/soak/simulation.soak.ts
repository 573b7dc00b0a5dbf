import { expect, vi } from 'vitest'
import { type Found, simulateFrom, startSimulation } from '../simulation/world'
import { scenario } from './rounds'

vi.mock('@/server/clock', async () => (await import('../simulation/stand-ins')).clock())
vi.mock('@/server/give-way', async (original) => (await import('../simulation/stand-ins')).giveWay(original))
vi.mock('@/server/interpreter/notice/running', async (original) =>
  (await import('../simulation/stand-ins')).running(original),
)
vi.mock('@/server/steps/test-effect', async (original) =>
  (await import('../simulation/stand-ins')).testEffect(original),
)

/** Ends well before the soak's own limit, with the seeds it completed by then. */
const LONGEST_MS = 50 * 60_000
const SAID_EVERY = 250

scenario('simulated deliveries, twice, late and in any order: every invariant holds', 50_000, async (soak) => {
  const simulation = await startSimulation()
  soak.after(() => simulation.close())
  const first = Math.floor(soak.random() * 2 ** 30)
  const from = performance.now()
  const isOver = () => performance.now() - from > LONGEST_MS
  const all: Pick<Found, 'violations' | 'effects' | 'compared' | 'moved' | 'refusals'> = {
    ...{ violations: [], effects: 0, compared: 0, moved: 0 },
    refusals: new Map(),
  }
  let done = 0
  while (done < soak.rounds && !isOver()) {
    const count = Math.min(SAID_EVERY, soak.rounds - done)
    const found = await simulateFrom(simulation, first + done, count)
    done += count
    all.violations.push(...found.violations)
    all.effects += found.effects
    all.compared += found.compared
    all.moved += found.moved
    for (const [why, count] of found.refusals) all.refusals.set(why, (all.refusals.get(why) ?? 0) + count)
    const { violations, effects, compared, moved } = all
    const refusals = [...all.refusals].map(([why, count]) => `${count} ${why}`).join(', ')
    soak.say(
      `${done} seeds from ${first} in ${Math.round((performance.now() - from) / 1_000)} s: ${effects} effects, ${compared} compared with their graph, ${moved} moves (refused: ${refusals}), ${violations.length} violations`,
    )
    for (const violation of found.violations) soak.say(violation)
  }
  // Seeds with findings belong in test/simulation/seeds.ts.
  expect(all.violations).toEqual([])
})
