import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { startWorker } from '../support/service'
import { newTenant } from '../support/tenant'
import { scenario } from './rounds'
import { CALLS, publishTenCalls, RECORDS, startTenCalls } from './ten-calls'

const ENV = { ALLOW_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'fatal', MILLRACE_HOST_ID: 'one' }

/** The turns of a batch, and after how many records of each the process is killed. */
function planOf(batch: number): { size: number; places: number[] } {
  // After each of its records.
  if (batch === 0) return { size: 2, places: Array.from({ length: RECORDS - 1 }, (_, index) => 1 + index) }
  // The engine runs what has lost its process three times by itself, which would take long for many.
  const places = new Set([batch * 3, batch * 3 + 7].map((place) => 1 + (place % (RECORDS - 1))))
  return { size: 11, places: [...places].sort((a, b) => a - b) }
}

const WAIT = { timeout: 120_000, interval: 3 }

scenario(
  'I47: 200 turns of ten calls, killed after each recorded call: none is made again, repeats have the same key',
  200,
  async (soak) => {
    const database = await freshDatabase({ max: 10 })
    soak.after(() => database.close())
    const outside = await startTenCalls()
    soak.after(() => outside.stop())
    Object.assign(process.env, { ...ENV, DATABASE_URL: database.url })
    const ctx = await newTenant(database)
    const workflowId = await publishTenCalls(ctx, outside)
    const start = () => startWorker({ databaseUrl: database.url, env: ENV })
    let worker = await start()
    soak.after(() => worker.stop())

    /** The numbers of the recorded calls, by run. */
    const recorded = async (runIds: string[]) => {
      const rows = await database.sql<{ run_id: string; seqs: number[] }[]>`
        select t.run_id, json_agg(c.seq) as seqs from agent_turns t
        join agent_calls c on c.tenant_id = t.tenant_id and c.turn_id = t.id
        where t.run_id in ${database.sql(runIds)} group by t.run_id`
      return new Map(rows.map(({ run_id: id, seqs }) => [id, seqs]))
    }
    let [turns, kills, repeats, asked] = [0, 0, 0, 0]
    for (let batch = 0; turns < soak.rounds; batch++) {
      const { size, places } = planOf(batch)
      const started = await Promise.all(
        Array.from({ length: Math.min(size, soak.rounds - turns) }, (_, index) =>
          startRun(ctx, { workflowId, body: { turn: `turn-${turns + index}` } }),
        ),
      )
      const runIds = started.map(({ runId }) => runId)
      for (const place of places) {
        const reached = async () => {
          const now = await recorded(runIds)
          expect(runIds.filter((id) => (now.get(id)?.length ?? 0) < place)).toEqual([])
        }
        await vi.waitFor(reached, WAIT)
        worker.kill('SIGKILL')
        await worker.exited
        kills += 1
        // The process may have sent statements and calls that are still on their way.
        await sleep(20)
        await expectInvariants(database.sql)
        const known = await recorded(runIds)
        const seen = outside.paid.length
        worker = await start()
        outside.forbid(known, seen)
      }
      for (const [index, runId] of runIds.entries()) {
        const done = async () => expect((await getRunStatus(ctx, { runId })).status).toBe('completed')
        await vi.waitFor(done, { timeout: 60_000, interval: 25 })
        expect((await getRunStatus(ctx, { runId })).result).toEqual({ paid: CALLS })
        const found = await outside.check(database.sql, runId, `turn-${turns + index}`)
        repeats += found.repeats
        asked += found.asked
        expect(found.asked).toBeLessThanOrEqual(4 + places.length)
      }
      expect(outside.problems).toEqual([])
      turns += runIds.length
      if (turns % 50 === 0) soak.say(`${turns} turns, ${kills} kills`)
    }
    await expectInvariants(database.sql)
    soak.say(
      `${turns} turns of ${CALLS} calls, ${kills} kills: ${outside.paid.length} calls arrived, ${repeats} of them again because they had no record, with the same key; ${asked} requests to the model for ${4 * turns} answers; no recorded call was made again`,
    )
  },
)
