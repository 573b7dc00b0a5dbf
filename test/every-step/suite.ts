import { describe, test } from 'vitest'
import { cancelRun } from '@/server/runs/cancel'
import { terminateRun } from '@/server/runs/terminate'
import type { TestRuntime } from '../support/runtime'
import { SITUATIONS, type Situation } from './cases'
import { checkCase, comesTo, startCase } from './check'
import { ROWS, type RowName, tableOf, typeOf } from './table'
import type { World } from './world'

/** Needs processes of its own: `killed.test.ts`. */
const here = SITUATIONS.filter((situation) => situation !== 'kill -9 in it')

/** Every step type in every situation, on the runtime's engine. */
export function everyStepSuite(underTest: () => { runtime: TestRuntime; world: World }): void {
  async function inIt(row: RowName, situation: Situation): Promise<void> {
    const { runtime, world } = underTest()
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
}
