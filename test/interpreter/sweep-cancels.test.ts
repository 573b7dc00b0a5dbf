import { setTimeout as sleep } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runs } from '@/db/schema/runs'
import { sweepCancels } from '@/server/interpreter/repair/cancels'
import { log } from '@/server/log'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime

let endSlow = () => {}
const slowMayEnd = new Promise<void>((done) => {
  endSlow = done
})

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }) => ({
    ...(path === '/slow' ? { after: slowMayEnd } : {}),
    body: { [path.slice(1)]: true },
  }))
  // A grace period so long that no process stops the step by itself.
  runtime = await startTestRuntime(database.url, { CANCEL_GRACE_MS: '60000' })
})

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const sweepAt = (from: Date, ms: number) =>
  sweepCancels({ db: database.db, log: log(), now: () => new Date(from.getTime() + ms) })

/** As left by a process that died right after it wrote the request. */
async function requestOnly(runId: string): Promise<Date> {
  const requestedAt = new Date()
  const why = { kind: 'cancel' as const, reason: 'lost', requestedBy: 'system' }
  const cancellation = { ...why, requestedAt: requestedAt.toISOString() }
  await database.db.update(runs).set({ cancelRequestedAt: requestedAt, cancellation }).where(eq(runs.id, runId))
  return requestedAt
}

describe('a stalled cancel', () => {
  it('is continued by the sweep, including its cleanup', async () => {
    const runId = await runtime.start({
      steps: [
        { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
        { id: 'undo', type: 'test-effect', url: `${effects.url}undo` },
      ],
      onCancel: 'undo',
    })
    await runtime.wait(runId, (run) => run.status === 'paused')
    const from = await requestOnly(runId)
    expect(await sweepAt(from, 0)).toBe(0)
    expect(await sweepAt(from, 6_000)).toBe(1)
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ outcome: 'cancelled', cancellation: { cleanup: 'completed' } })
    expect(await sweepAt(from, 600_000)).toBe(0)
  })

  it('waits for a running step, but not forever, and refuses late results', async () => {
    const runId = await runtime.start({ steps: [{ id: 'work', type: 'test-effect', url: `${effects.url}slow` }] })
    await runtime.wait(runId, () => effects.seen.some(({ key }) => key.startsWith(runId)))
    const from = await requestOnly(runId)
    expect(await sweepAt(from, 70_000)).toBe(0)
    expect(await sweepAt(from, 90_000)).toBe(1)
    const closed = await runtime.status(runId)
    expect(closed).toMatchObject({ outcome: 'cancelled', error: { message: 'Cancelled: lost' } })
    endSlow()
    await sleep(300)
    expect(await runtime.status(runId)).toEqual(closed)
  })
})
