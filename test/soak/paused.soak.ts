import { expect } from 'vitest'
import { percentile } from '../../bench/stats'
import { call, TEST_ENV } from '../support/api'
import { copyRun } from '../support/copy-run'
import { freshDatabase } from '../support/db'
import { startWeb } from '../support/service'
import { scenario } from './rounds'

const ENV = { ...TEST_ENV, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
const HELD = 100_000
const RESUMED = 500
const CALLERS = 4

scenario(
  'I24: 100,000 paused runs: the service starts in 5 s, and 99 of 100 resumes take less than 500 ms',
  1,
  async (soak) => {
    const database = await freshDatabase()
    soak.after(() => database.close())
    const start = async () => {
      const from = performance.now()
      const web = await startWeb({
        databaseUrl: database.url,
        env: ENV,
        tenantId: 'ten_paused',
        apiKey: 'sk_paused_0123456789',
      })
      return { web, ms: performance.now() - from }
    }
    const { web: first, ms: emptyMs } = await start()
    const steps = [
      { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }], expiresIn: 'P30D' },
      { id: 'after', type: 'set-data', values: { done: true } },
    ]
    const made = await call(first, 'POST', '/api/workflows', {
      name: 'Held',
      steps,
      edges: [{ from: 'ask', to: 'after' }],
    })
    const { body } = await call(first, 'POST', `/api/workflow/start/${made.body.id}`, {})
    expect(body.status).toBe('paused')
    await first.stop()
    await copyRun(database.sql, body.runId, HELD)

    const { web, ms } = await start()
    soak.after(() => web.stop())
    soak.say(`the start took ${Math.round(ms)} ms, and ${Math.round(emptyMs)} ms on the empty database`)
    const times: number[] = []
    let next = 0
    const caller = async () => {
      for (let n = next++; n < RESUMED; n = next++) {
        const from = performance.now()
        const path = `/api/workflow/resume/${body.runId}C${n * (HELD / RESUMED) + 1}`
        const answer = await call(web, 'POST', path, { type: 'request_user_action', actionId: 'go' })
        expect(answer.status).toBe(200)
        times.push(performance.now() - from)
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    times.sort((a, b) => a - b)
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
    soak.say(`${RESUMED} resumes from ${CALLERS} callers: p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms`)
    await expect
      .poll(async () => (await database.sql`select 1 from runs where status = 'completed'`).length, { timeout: 60_000 })
      .toBe(RESUMED)
    expect(ms).toBeLessThan(5_000)
    expect(p99).toBeLessThan(500)
  },
)
