import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixedExits } from '@/server/definition/exits'
import { findStepType, steps } from '@/server/steps/registry'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { SITUATIONS, type Situation } from './cases'
import { everyStepSuite } from './suite'
import { ROWS, tableOf, typeOf } from './table'
import { IMPATIENT, startWorld, type World } from './world'

let database: FreshDatabase
let runtime: TestRuntime
let world: World
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url, IMPATIENT)
  world = await startWorld(runtime.ctx)
})
afterAll(async () => {
  await runtime.stop()
  await world.stop()
  await database.close()
})

everyStepSuite(() => ({ runtime, world }))

test('no case is missing: only impossible ones are left out', () => {
  const table = tableOf(world, '')
  expect([...new Set(ROWS.map(typeOf))].sort()).toEqual(Object.keys(steps).sort())
  for (const row of ROWS) {
    const { mode, exits } = findStepType(typeOf(row)) ?? { exits: [] }
    const takesTime = mode === 'effect' || mode === 'pause' || mode === 'fork'
    const can: Record<Situation, boolean> = {
      success: true,
      'a temporary failure, then success': mode === 'effect',
      'a permanent failure': true,
      'a permanent failure with an error edge': fixedExits(exits).includes('error'),
      'time is up': takesTime,
      'cancel in it': takesTime,
      'terminate in it': takesTime,
      'kill -9 in it': true,
    }
    for (const situation of SITUATIONS) {
      const one = table[row][situation]
      expect('never' in one ? one.never : '', `${row}: ${situation}`).toMatch(can[situation] ? /^$/ : /^[A-Z].{20,}\.$/)
    }
  }
})
