import type { Sql } from 'postgres'
import { expect } from 'vitest'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { startTestRuntime } from '../support/runtime'
import { scenario } from './rounds'

const set = (id: string, values: object) => ({ id, type: 'set-data', values })

scenario('a field of 1 MB beside 60 effects: a visit writes less than 16 KB of WAL', 1, async (soak) => {
  const database = await freshDatabase({ max: 20 })
  soak.after(() => database.close())
  const effects = await startEffects(() => ({ body: { n: 1 } }))
  soak.after(() => effects.stop())
  const runtime = await startTestRuntime(database.url)
  soak.after(() => runtime.stop())
  const ids = Array.from({ length: 60 }, (_, n) => `s${n}`)
  const definition = (values: object) => ({
    name: 'Beside',
    initialStep: 'big',
    steps: [
      set('big', values),
      { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] },
      ...ids.map((id) => ({ id, type: 'test-effect', url: effects.url, saveAs: 'last' })),
    ],
    edges: [
      { from: 'big', to: 'ask' },
      { from: 'ask', to: 's0' },
      ...ids.slice(1).map((to, n) => ({ from: `s${n}`, to })),
    ],
  })
  const walOf = async (values: object) => {
    const { resumeRun } = await import('@/server/runs/resume')
    const runId = await runtime.start(definition(values))
    await runtime.wait(runId, ({ status }) => status === 'paused')
    const before = await lsn(database.sql)
    await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'go' } })
    await expect.poll(() => isOpen(database.sql, runId), { timeout: 60_000 }).toBe(false)
    return ((await lsn(database.sql)) - before) / ids.length
  }
  await walOf({ big: 'small' })
  const small = await walOf({ big: 'small' })
  const large = await walOf({ big: 'x'.repeat(1_000_000) })
  soak.say(`a visit wrote ${Math.round(small)} bytes of WAL beside a small field, ${Math.round(large)} beside 1 MB`)
  expect(large).toBeLessThan(16 * 1024)
})

async function isOpen(sql: Sql, runId: string): Promise<boolean> {
  const [run] = await sql`select end_time from runs where id = ${runId}`
  return run?.end_time === null
}

async function lsn(sql: Sql): Promise<number> {
  const [row] = await sql`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`
  return Number(row?.bytes)
}
