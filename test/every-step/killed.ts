import { vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { getRunStatus } from '@/server/runs/status'
import type { Case } from './cases'
import { checkCase, comesTo, startCase } from './check'
import { ROWS, tableOf, typeOf } from './table'
import { SETTINGS, type World } from './world'

const SITUATION = 'kill -9 in it'
/** For every process that works. The same machine, so that the next process takes over at once. */
export const WORKER_ENV = { ...SETTINGS, LOG_LEVEL: 'fatal', MILLRACE_HOST_ID: 'one' }

/**
 * Brings a run of each step type to its step, kills the process that works, and checks how each run ends after another
 * process has taken over.
 * @param name the name under which this round's calls are counted
 * @param replace kills the process and starts the next one
 * @param early whether the event that ends a wait happens just before the kill, or only after it
 */
export async function killInEveryStep(
  ctx: ServiceContext,
  world: World,
  name: string,
  replace: () => Promise<void>,
  early: () => boolean,
): Promise<void> {
  const runs = await Promise.all(
    ROWS.map(async (row, at) => {
      const own = `${name}-${at}`
      const one = tableOf(world, own)[row][SITUATION] as Case
      const runId = await startCase(ctx, world, typeOf(row), own, one)
      await comesTo(ctx, world, runId, own, one)
      return { own, one, runId, early: early() }
    }),
  )
  const act = (when: boolean) =>
    Promise.all(runs.flatMap(({ one, runId, early }) => (early === when && one.act ? [one.act(ctx, runId)] : [])))
  await act(true)
  await replace()
  await act(false)
  for (const { own, one, runId } of runs) {
    const ended = async () => {
      const run = await getRunStatus(ctx, { runId })
      if (run.endTime === undefined) throw new Error(`${own} has not ended: ${JSON.stringify(run, null, 2)}`)
      return run
    }
    const run = await vi.waitFor(ended, { timeout: 60_000, interval: 25 })
    await checkCase(ctx, world, run, own, one, SITUATION)
  }
}
