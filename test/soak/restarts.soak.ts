import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { startEmbeddedPostgres } from '@/db/embedded'
import { openDatabase } from '@/db/index'
import { migrate } from '@/db/migrate'
import { percentile } from '../../bench/stats'
import { startLoad } from '../recovery/load'
import { TEST_ENV } from '../support/api'
import { startEffects } from '../support/effects'
import { expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { startWeb, temporaryDir } from '../support/service'
import { scenario } from './rounds'

/** A run that hangs, or a process that does not restart by itself, takes longer. */
const STUCK_MS = 30_000
/** Promises that must be made after each restart before the next one. */
const BETWEEN = 4

scenario(
  '500 restarts of Postgres under load, fast and immediate: no uncaught error, nothing lost, nothing hangs',
  500,
  async (soak) => {
    const effects = await startEffects(({ body }) => ({ delayMs: 20, body: { id: body.id } }))
    soak.after(() => effects.stop())
    const home = temporaryDir()
    soak.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
    const startServer = () => startEmbeddedPostgres({ dataDir: join(home, 'postgres'), log: () => {} })
    let server = await startServer()
    soak.after(() => server.stop())
    await migrate(server.url)
    const web = await startWeb({ databaseUrl: server.url, env: TEST_ENV })
    soak.after(() => web.stop())
    let ended = false
    void web.exited.then(() => {
      ended = true
    })

    const load = await startLoad(() => web, effects)
    const backMs: number[] = []
    for (let round = 1; round <= soak.rounds; round++) {
      await sleep(soak.random() * 500)
      if (round % 2 === 0) await server.stop()
      else {
        process.kill(server.pid, 'SIGQUIT')
        await server.exited
      }
      server = await startServer()
      const from = performance.now()
      await Promise.race([load.more(BETWEEN), hangs(web.logs)])
      backMs.push(performance.now() - from)
      if (round % 50 === 0) soak.say(`${round} restarts, ${load.ended()} runs`)
    }
    const problems = await load.finish()
    const logs = web.logs()
    const still = load.longestStill()
    backMs.sort((a, b) => a - b)
    const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => (percentile(backMs, share) / 1_000).toFixed(1))
    soak.say(
      `${soak.rounds} restarts, ${load.ended()} runs, ${load.acknowledged.length} promises, ${problems.length} broken; ${BETWEEN} more promises after p50 ${p50}, p99 ${p99}, longest ${longest} s; no run stood still for more than ${(still.ms / 1_000).toFixed(1)} s (${still.runId}, until ${still.until.toISOString()})`,
    )
    expect(problems).toEqual([])
    expect(ended).toBe(false)
    expect(logs.match(/.*(uncaught|unhandled).*/gi) ?? []).toEqual([])
    expect(still.ms).toBeLessThan(STUCK_MS)
    const { sql, close } = openDatabase(server.url, { max: 2 })
    await expectInvariants(sql)
      .then(async () => expect(await checkEffects(sql, effects.seen)).toEqual([]))
      .finally(close)
  },
)

async function hangs(logs: () => string): Promise<never> {
  await sleep(2 * STUCK_MS, undefined, { ref: false })
  throw new Error(`Nothing went on after a restart:\n${logs().slice(-4_000)}`)
}
