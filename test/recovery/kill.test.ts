import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, test } from 'vitest'
import { type Caller, call, TEST_ENV } from '../support/api'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { type Service, startService, startWeb, temporaryDir, type Web } from '../support/service'
import { carry, insist, KINDS, repeats, verdict } from './workload'

let effects: EffectServer
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Effects that take a moment, so that a kill finds steps at work. */
async function openEffects(delayMs = 20): Promise<EffectServer> {
  effects = await startEffects((effect) => ({ delayMs, body: { id: effect.body.id } }))
  cleanups.push(() => effects.stop())
  return effects
}

const CREDENTIALS = { tenantId: 'ten_recovery', apiKey: 'sk_recovery_0123456789' }

async function openDatabase(): Promise<FreshDatabase> {
  const database = await freshDatabase()
  cleanups.push(() => database.drop())
  return database
}

function ownDir(): string {
  const home = temporaryDir()
  cleanups.push(async () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  return `${home}/data`
}

async function publishKinds(caller: () => Caller): Promise<string[]> {
  const ids: string[] = []
  for (const kind of KINDS) {
    const { answer } = await insist(caller, 'POST', '/api/workflows', { name: 'Recovery', ...kind(effects) })
    expect(answer.status).toBe(201)
    ids.push(answer.body.id)
    expect((await insist(caller, 'POST', `/api/workflows/${answer.body.id}/publish`, {})).answer.status).toBe(200)
  }
  return ids
}

/** Starts runs of every kind in turn and carries each to its end; the first problem of each is reported. */
async function carryRuns(caller: () => Caller, workflows: string[], count: number, deadline: number) {
  const problems: string[] = []
  const runIds: string[] = []
  let next = 0
  const lane = async () => {
    for (let i = next++; i < count; i = next++) {
      const { answer } = await insist(
        caller,
        'POST',
        `/api/workflow/start-async/${workflows[i % workflows.length]}`,
        {},
      )
      expect(answer.status).toBe(200)
      runIds.push(answer.body.runId)
      const { run, accepted } = await carry(caller, answer.body.runId, deadline)
      problems.push(...verdict(run, accepted))
    }
  }
  await Promise.all(Array.from({ length: 10 }, lane))
  return { problems, runIds }
}

describe('whatever is killed', () => {
  test('web and engine killed at random during 50 runs: every acknowledged run ends, no recorded step runs twice', async () => {
    await openEffects()
    const database = await openDatabase()
    const start = () =>
      startWeb({ databaseUrl: database.url, env: { ...TEST_ENV, MILLRACE_HOST_ID: 'one' }, ...CREDENTIALS })
    let web: Web = await start()
    cleanups.push(() => web.stop())
    // Read at each call, since every start takes another port.
    const caller = (): Caller => web
    const workflows = await publishKinds(caller)

    let done = false
    let kills = 0
    const killing = (async () => {
      while (!done && kills < 8) {
        await sleep(300 + Math.random() * 900)
        if (done) break
        const before = effects.seen.length
        web.kill('SIGKILL')
        await web.exited
        kills += 1
        web = await start()
        expect(effects.seen.length).toBeGreaterThanOrEqual(before)
      }
    })()
    const { problems, runIds } = await carryRuns(caller, workflows, 50, Date.now() + 100_000)
    done = true
    await killing

    expect(problems).toEqual([])
    expect(runIds).toHaveLength(50)
    expect(kills).toBeGreaterThanOrEqual(3)
    // Ten lanes: at most ten steps were under way at each kill, and only those may have run again.
    expect(repeats(effects).size).toBeLessThanOrEqual(kills * 10)
    await expectSound(database.db)
    // What was recorded before a kill was not executed after it: one execution per attempt that history knows.
    const attempts = await database.db.execute<{ key: string; attempt: number }>(
      sql`select run_id || ':' || branch || ':' || step_id || ':' || visit as key, attempt from step_records where step_type = 'test-effect'`,
    )
    const allowed = new Map(attempts.map((row) => [row.key, row.attempt]))
    const tooOften = [...repeats(effects)].filter(([key, times]) => times > (allowed.get(key) ?? 0))
    expect(tooOften).toEqual([])
  })

  test('Postgres, web and launcher of the whole product killed: the next start recovers what was acknowledged', async () => {
    await openEffects()
    const dataDir = ownDir()
    let service: Service = await startService({ dataDir, env: TEST_ENV })
    cleanups.push(() => service.stop())
    const workflows = await publishKinds(() => service)
    const running = carryRuns(() => service, workflows, 24, Date.now() + 100_000)

    await sleep(500)
    service.kill('SIGKILL', 'postgres')
    await sleep(2_500)
    service.kill('SIGKILL', 'web')
    await sleep(2_000)
    service.kill('SIGKILL', 'launcher')
    await service.exited
    service = await startService({ dataDir, env: TEST_ENV })

    const { problems, runIds } = await running
    expect(problems).toEqual([])
    expect(runIds).toHaveLength(24)
  })

  test('two processes share the work; one is killed and the other goes on', async () => {
    await openEffects(10)
    const database = await openDatabase()
    const first = await startWeb({ databaseUrl: database.url, env: TEST_ENV, ...CREDENTIALS })
    cleanups.push(() => first.stop())
    const second = await startWeb({ databaseUrl: database.url, env: TEST_ENV, ...CREDENTIALS })
    cleanups.push(() => second.stop())
    const workflows = await publishKinds(() => second)
    const running = carryRuns(() => second, workflows, 30, Date.now() + 100_000)
    await sleep(700)
    first.kill('SIGKILL')
    const { problems, runIds } = await running
    expect(problems).toEqual([])
    expect(runIds).toHaveLength(30)
    await expectSound(database.db)
  })

  test('a paused run outlives every process and goes on exactly where it was', async () => {
    await openEffects()
    const dataDir = ownDir()
    let service: Service = await startService({ dataDir, env: TEST_ENV })
    cleanups.push(() => service.stop())
    const started = await call(service, 'POST', '/api/workflow/start-async/wf_order_approval', {})
    const path = `/api/workflow/status/${started.body.runId}`
    await expect.poll(async () => (await call(service, 'GET', path)).body.status).toBe('paused')
    const before = (await call(service, 'GET', path)).body
    await service.stop()
    service = await startService({ dataDir, env: TEST_ENV })
    expect((await call(service, 'GET', path)).body).toEqual(before)
    const answer = { type: 'collect_inputs', data: { item: 'Chair', amount: 3 } }
    expect((await call(service, 'POST', `/api/workflow/resume/${started.body.runId}`, answer)).status).toBe(200)
    await expect.poll(async () => (await call(service, 'GET', path)).body.pauseSignal?.stepId).toBe('decision')
  })
})

/** Invariants that hold of any database at rest. */
async function expectSound(db: FreshDatabase['db']): Promise<void> {
  const broken = await db.execute(sql`
    select r.id, r.status, r.outcome from runs r
    where (r.status in ('completed', 'failed')) <> (r.end_time is not null)
       or (r.outcome is null) <> (r.end_time is null)
       or (r.result is not null and r.status <> 'completed')
       or (r.end_time is not null and exists (
             select 1 from step_records s where s.tenant_id = r.tenant_id and s.run_id = r.id and s.status = 'running'))
       or (r.end_time is not null and exists (
             select 1 from walks w where w.tenant_id = r.tenant_id and w.run_id = r.id and w.status <> 'ended'))`)
  expect([...broken]).toEqual([])
  const records = await db.execute(sql`
    select run_id, step_id from step_records
    where (status = 'running') <> (end_time is null) or end_time < start_time or (status = 'failed') <> (error is not null)`)
  expect([...records]).toEqual([])
}
