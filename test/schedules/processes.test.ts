import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSchedule } from '@/server/schedules/save'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROCESSES = 3
const KILLS = 9
const MINUTE = 60_000
const FROM = Date.parse('2026-03-02T09:00:30Z')

let database: FreshDatabase
const children = new Set<ChildProcess>()
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await database?.close()
})

/** A process that fires schedules. Once it runs it can be killed. */
function startOne(): Promise<ChildProcess> {
  const args = ['--import', 'tsx', '--conditions=react-server', 'test/schedules/fire-child.ts', database.url]
  const env = { PATH: process.env.PATH, LOG_LEVEL: 'error' } as unknown as NodeJS.ProcessEnv
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  children.add(child)
  return new Promise((done, fail) => {
    child.once('message', () => done(child))
    child.once('exit', (code) => fail(new Error(`ended with ${code}`)))
  })
}

test('each minute of a schedule starts one run, while the processes that fire it are killed', async () => {
  const ctx = { ...(await newTenant(database)), now: () => new Date(FROM) }
  const steps = [{ id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } } }]
  const { id: workflowId } = await createWorkflow(ctx, { name: 'Timed', steps })
  for (let i = 0; i < 3; i++) await createSchedule(ctx, { workflowId, body: { name: `S${i}`, cron: '* * * * *' } })
  await database.sql`create table clock as select ${new Date(FROM)}::timestamptz as at`
  const running = await Promise.all(Array.from({ length: PROCESSES }, startOne))
  const starting: Promise<void>[] = []
  let minutes = 0
  // The clock advances only when every schedule has reached it, so that none is late, however slow the processes are.
  const pass = async (meanwhile: () => Promise<void>) => {
    const at = new Date(FROM + ++minutes * MINUTE)
    await database.sql`update clock set at = ${at}`
    await meanwhile()
    const behind = async () => (await database.sql`select 1 from schedules where next_at <= ${at}`).length
    await expect.poll(behind, { interval: 5 }).toBe(0)
  }
  for (let kill = 0; kill < KILLS; kill++) {
    // One always lives.
    await expect.poll(() => running.length).toBeGreaterThan(1)
    for (let quiet = 0; quiet < 2; quiet++) await pass(async () => {})
    await pass(async () => {
      await sleep(Math.random() * 40)
      const victim = running.shift()
      victim?.removeAllListeners('exit')
      victim?.kill('SIGKILL')
      starting.push(startOne().then((heir) => void running.push(heir)))
    })
  }
  await Promise.all(starting)
  for (const child of children) child.kill('SIGKILL')
  await sleep(100)

  const all = await database.sql<{ schedule_id: string; at: Date; status: string; run_id: string }[]>`
    select schedule_id, at, status, run_id from schedule_ticks order by schedule_id, at`
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['started']))
  expect(new Set(all.map(({ run_id }) => run_id)).size).toBe(all.length)
  const [runs] = await database.sql`select count(*)::int as n from runs`
  expect(runs?.n).toBe(all.length)
  for (const id of new Set(all.map(({ schedule_id }) => schedule_id))) {
    const times = all.filter(({ schedule_id }) => schedule_id === id).map(({ at }) => at.getTime())
    expect(times).toHaveLength(minutes)
    expect(times).toEqual(times.map((_, i) => FROM + MINUTE / 2 + i * MINUTE))
  }
  // A dozen processes load the product, one after the other.
}, 300_000)
