import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixedExits } from '@/server/definition/exits'
import { cancelRun } from '@/server/runs/cancel'
import { terminateRun } from '@/server/runs/terminate'
import { findStepType, steps } from '@/server/steps/registry'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { SITUATIONS, type Situation } from './cases'
import { checkCase, comesTo, startCase } from './check'
import { ROWS, type RowName, tableOf, typeOf } from './table'
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

/** Needs processes of its own: `killed.test.ts`. */
const here = SITUATIONS.filter((situation) => situation !== 'kill -9 in it')

async function inIt(row: RowName, situation: Situation): Promise<void> {
  const name = `${ROWS.indexOf(row)}-${SITUATIONS.indexOf(situation)}`
  const one = tableOf(world, name)[row][situation]
  if ('never' in one) return
  const runId = await startCase(runtime.ctx, world, typeOf(row), name, one)
  const stop = { 'cancel in it': cancelRun, 'terminate in it': terminateRun }[situation as string]
  const apart = stop ? one.branches?.filter((branch) => branch.endsWith(' completed')) : []
  if (stop || one.act) await comesTo(runtime.ctx, world, runId, name, one, apart)
  await stop?.(runtime.ctx, { runId })
  await one.act?.(runtime.ctx, runId)
  await checkCase(runtime.ctx, world, await runtime.wait(runId), name, one, situation)
}

describe.concurrent.each(ROWS)('%s', (row) => {
  test.each(here)('%s', (situation) => inIt(row, situation))
})

test('no case is missing: only what a kind of step cannot do is left out', () => {
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
