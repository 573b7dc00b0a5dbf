import { afterAll, beforeAll, expect, test } from 'vitest'
import { race } from './races/race'
import { judge } from './races/verdict'
import { type RaceWorld, startRaceWorld } from './races/world'

// `npm run soak -- "approvals"` runs five hundred.
const RACES = 20
const LANES = 5

let world: RaceWorld
beforeAll(async () => {
  world = await startRaceWorld()
}, 120_000)
afterAll(() => world?.close())

test('A6, A7, A8: however inbox, REST, links, expiry, cancel and terminate meet at the questions of a turn, exactly the approved calls are made, each once', async () => {
  const problems: string[] = []
  let left = RACES
  const lane = async () => {
    while (left-- > 0) problems.push(...(await judge(world, await race(world, Math.random))).problems)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  expect(problems).toEqual([])
  expect(world.paid.length).toBeGreaterThan(0)
}, 120_000)
