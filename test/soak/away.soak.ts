import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { startLoad } from '../recovery/load'
import { call, TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { startWeb } from '../support/service'
import { startProxy } from '../support/tcp-proxy'
import { scenario } from './rounds'

const AWAY_MS = Number(process.env.AWAY_MS ?? 60_000)
/** The longest a caller waits for its 503 (a database call has 5 s), and for service after the database is back. */
const ANSWERED_MS = 6_000
const BACK_MS = 10_000

for (const how of ['cut', 'stall'] as const) {
  scenario(
    `I25: the database is away for 60 s (${how}): callers get 503 within 6 s, then every run goes on`,
    1,
    async (soak) => {
      const database = await freshDatabase()
      soak.after(() => database.close())
      const effects = await startEffects(({ body }) => ({ delayMs: 20, body: { id: body.id } }))
      soak.after(() => effects.stop())
      const proxy = await startProxy(database.url)
      soak.after(() => proxy.close())
      const web = await startWeb({ databaseUrl: database.url, env: { ...TEST_ENV, DATABASE_URL: proxy.url } })
      soak.after(() => web.stop())
      let ended = false
      void web.exited.then(() => {
        ended = true
      })
      const load = await startLoad(() => web, effects)
      for (let round = 1; round <= soak.rounds; round++) {
        await load.more(20)
        const ask = async ([method, path, body]: readonly [string, string, unknown?]) => {
          const from = performance.now()
          const { status, headers } = await call(web, method, path, body)
          return { path, status, retryAfter: headers.get('retry-after'), ms: performance.now() - from }
        }
        const promised = load.acknowledged.at(-1)?.runId
        const CALLS = [
          ['GET', '/api/workflow/runs'],
          ['POST', `/api/workflow/resume/${promised}`, { type: 'collect_inputs', data: {} }],
          ['GET', '/api/health'],
        ] as const
        proxy[how]()
        const probes: Awaited<ReturnType<typeof ask>>[] = []
        // Concurrently, so that one that hangs cannot hide behind another.
        for (const until = performance.now() + AWAY_MS; performance.now() < until; await sleep(500))
          probes.push(...(await Promise.all(CALLS.map(ask))))
        proxy.recover()
        const from = performance.now()
        while ((await ask(CALLS[0])).status !== 200) await sleep(50)
        await load.more(5)
        const backMs = performance.now() - from
        const slowest = Math.max(...probes.map(({ ms }) => ms))
        soak.say(
          `${probes.length} calls while it was away, the slowest ${Math.round(slowest)} ms; back after ${Math.round(backMs)} ms`,
        )
        expect(probes.filter(({ status }) => status !== 503)).toEqual([])
        expect(probes.filter(({ path, retryAfter }) => retryAfter === null && path !== '/api/health')).toEqual([])
        expect(slowest).toBeLessThan(ANSWERED_MS)
        expect(backMs).toBeLessThan(BACK_MS)
      }
      expect(await load.finish()).toEqual([])
      expect(ended).toBe(false)
      await expectInvariants(database.sql)
      const broken = await checkEffects(database.sql, effects.seen)
      expect(broken).toEqual([])
    },
  )
}
