import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashApiKey } from '@/server/auth/api-key'
import { type Answer, type Api, startApi } from '../support/api'
import { type EffectServer, startEffects } from '../support/effects'

const SECRET = 'planted-4711-value'

let api: Api
let effects: EffectServer
/** All responses to callers. */
const answers: string[] = []
beforeAll(async () => {
  effects = await startEffects(() => ({ body: { found: SECRET } }))
  api = await startApi({ LOG_LEVEL: 'trace' })
  // The database now refuses every row with the value, and reports the whole row.
  for (const [table, column] of [
    ['step_records', 'output_data'],
    ['workflows', 'name'],
  ] as const)
    await api.database.sql.unsafe(
      `alter table ${table} add constraint refuses_${table} check (${column}::text not like '%${SECRET}%') not valid`,
    )
})
afterAll(async () => {
  await api.stop()
  await effects.stop()
})

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await api.call(method, path, body)
  answers.push(JSON.stringify([answer.body, ...answer.headers]))
  return answer
}

/** Every row of every table, the engine's too. */
async function allRows(): Promise<string> {
  const tables = await api.database.sql<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`
  const rows = await Promise.all(
    tables.map(({ name }) => api.database.sql.unsafe(`select t::text as row from ${name} t`)),
  )
  return rows.flatMap((table) => table.map(({ row }) => String(row))).join('\n')
}

test('the values of a failed statement are in no answer, no log and no row', async () => {
  const step = { id: 'work', type: 'test-effect', url: effects.url }
  const { body: workflow } = await call('POST', '/api/workflows', { name: 'Asks', steps: [step] })
  const { body: run } = await call('POST', `/api/workflow/start-async/${workflow.id}`, {})
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(100)) {
    if ((await call('GET', `/api/workflow/status/${run.runId}`)).body.endTime) break
  }
  const { body: ended } = await call('GET', `/api/workflow/status/${run.runId}`)
  expect(ended).toMatchObject({ status: 'failed', error: { stepId: 'work' } })
  expect(effects.seen.length).toBeGreaterThan(0)

  expect((await call('POST', '/api/workflows', { name: SECRET })).status).toBe(500)

  await api.database.sql`alter table api_keys rename column hash to gone`
  expect((await call('GET', '/api/workflows')).status).toBe(500)

  // The log did report the failures, with enough to find them again. Its lines may come after the answers.
  for (const name of ['refuses_step_records', 'refuses_workflows', '23514', '42703', 'Failed query'])
    await expect.poll(() => api.logs()).toContain(name)
  const logs = api.logs()
  const places = { answers: answers.join('\n'), logs, rows: await allRows() }
  const values = [SECRET, hashApiKey(api.apiKey)]
  const rowsKeep = hashApiKey(api.apiKey) // the key's own row
  const leaks = Object.entries(places).flatMap(([place, text]) =>
    values
      .filter((value) => text.includes(value) && !(place === 'rows' && value === rowsKeep))
      .map((value) => [place, value]),
  )
  expect(leaks).toEqual([])
})
