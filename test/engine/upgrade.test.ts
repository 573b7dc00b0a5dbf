import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { digest } from '@/inngest/engine/ids'
import { type FreshDatabase, freshDatabase } from '../support/db'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database?.close())

const folder = 'db/migrations'
const file = readdirSync(folder).find((name) => name.endsWith('_engine_turns.sql')) ?? ''
/** The statements of the migration that change rows; the rest has already been applied. */
const updates = readFileSync(`${folder}/${file}`, 'utf8')
  .split('--> statement-breakpoint')
  .filter((statement) => /^UPDATE/m.test(statement))

test('runs from the previous release count towards their tenant’s limit, and their jobs start without any losses', async () => {
  const { sql } = database
  const event = (tenantId: string) => JSON.stringify({ name: 'w', data: { runId: 'run_1', tenantId } })
  for (const [id, functionId, tenant, status] of [
    ['walk', 'millrace-run-workflow', 'ten_Ab-3', 'running'],
    ['over', 'millrace-run-workflow', 'ten_b', 'completed'],
    ['sweep', 'millrace-sweep', 'ten_c', 'running'],
  ] as const) {
    await sql`
      insert into engine.runs (id, function_id, event, status, created_at)
      values (${id}, ${functionId}, ${event(tenant)}, ${status}, now())`
  }
  for (const [id, runId, kind] of [
    ['walk', 'walk', 'run'],
    ['walk.s', 'walk', 'step'],
    ['walk.z', 'walk', 'sleep'],
    ['sweep', 'sweep', 'run'],
    ['cron', null, 'cron'],
  ] as const) {
    await sql`
      insert into engine.jobs (id, run_id, function_id, kind, due_at, deliveries)
      values (${id}, ${runId}, 'f', ${kind}, now(), 7)`
  }

  expect(updates.length).toBe(3)
  for (const statement of updates) await sql.unsafe(statement)

  const lane = digest('ten_Ab-3')
  expect(await sql`select id, lane from engine.runs order by id`).toEqual([
    { id: 'over', lane: null },
    { id: 'sweep', lane: null },
    { id: 'walk', lane },
  ])
  expect(await sql`select id, lane, deliveries from engine.jobs order by id`).toEqual([
    { id: 'cron', lane: null, deliveries: 0 },
    { id: 'sweep', lane: null, deliveries: 0 },
    { id: 'walk', lane, deliveries: 0 },
    { id: 'walk.s', lane, deliveries: 0 },
    { id: 'walk.z', lane: null, deliveries: 0 },
  ])
})
