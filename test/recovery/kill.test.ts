import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type Caller, call, TEST_ENV } from '../support/api'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { installFinality } from '../support/invariants/finality'
import { type Service, startService, startWeb, temporaryDir, type Web } from '../support/service'
import { expectSoundIn, guardIn, startLoad } from './load'
import { allowedMs, STRIKES, strike } from './strike'
import { carry, expectSound, insist, publishKinds, repeats, verdict } from './workload'

let effects: EffectServer
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Slow effects, so that a kill hits running steps. */
async function openEffects(delayMs = 20): Promise<EffectServer> {
  effects = await startEffects((effect) => ({ delayMs, body: { id: effect.body.id } }))
  cleanups.push(() => effects.stop())
  return effects
}

const PATIENCE = { timeout: 90_000 }
const CREDENTIALS = { tenantId: 'ten_recovery', apiKey: 'sk_recovery_0123456789' }

async function openDatabase(): Promise<FreshDatabase> {
  const database = await freshDatabase()
  cleanups.push(() => database.close())
  return database
}

/** Starts runs of every kind in turn and completes each. Reports the first problem of each. */
async function carryRuns(caller: () => Caller, workflows: string[], count: number, patienceMs: number) {
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
      const { run, accepted } = await carry(caller, answer.body.runId, patienceMs)
      problems.push(...verdict(run, accepted))
    }
  }
  await Promise.all(Array.from({ length: 10 }, lane))
  return { problems, runIds }
}

describe('with any process killed', { timeout: 300_000 }, () => {
  test('web and engine killed at random under load: every acknowledged run ends, no recorded step runs twice', async () => {
    await openEffects()
    const database = await openDatabase()
    const start = () =>
      startWeb({ databaseUrl: database.url, env: { ...TEST_ENV, MILLRACE_HOST_ID: 'one' }, ...CREDENTIALS })
    let web: Web = await start()
    cleanups.push(() => web.stop())

    // Read at each call, because every start may use another port.
    await installFinality(database.sql)
    const load = await startLoad(() => web, effects, { clients: 10 })
    const kills = 3
    for (let kill = 1; kill <= kills; kill++) {
      await load.more(15)
      await sleep(Math.random() * 300)
      web.kill('SIGKILL')
      await web.exited
      // With every process dead: all remaining work can be continued.
      await expectSound(database.sql, effects)
      web = await start()
    }
    await load.more(15)
    expect(await load.finish()).toEqual([])
    // Ten clients: at most ten steps were running at each kill, and only those may have run again.
    expect(repeats(effects).size).toBeLessThanOrEqual(kills * 10)
    // Steps recorded before a kill were not executed after it: one execution per attempt in the history.
    await expectSound(database.sql, effects)
  })

  test('kill -9 of web, Postgres, launcher, two of them and all, under load: healthy soon, nothing acknowledged is lost', async () => {
    await openEffects()
    const home = temporaryDir()
    cleanups.push(async () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
    const start = () => startService({ dataDir: `${home}/data`, env: TEST_ENV })
    const from = performance.now()
    let service: Service = await start()
    const allowed = allowedMs(performance.now() - from)
    cleanups.push(() => service.stop())
    await guardIn(service.dataDir)
    const caller = () => service

    const { body } = await call(service, 'POST', '/api/workflow/start-async/wf_order_approval', {})
    const status = async () => (await call(service, 'GET', `/api/workflow/status/${body.runId}`)).body
    await expect.poll(async () => (await status()).status, PATIENCE).toBe('paused')
    const paused = await status()

    const load = await startLoad(caller, effects)
    const times: Record<string, number> = {}
    for (const [name, parts] of Object.entries(STRIKES)) {
      await load.more(8)
      const after = await strike(service, parts, start)
      service = after.service
      times[name] = after.ms
    }
    await load.more(8)
    expect(await load.finish()).toEqual([])
    expect(Object.entries(times).filter(([, ms]) => ms > allowed)).toEqual([])
    await expectSoundIn(service.dataDir, effects)

    // A run that waited for a person throughout is exactly where it was, and continues.
    expect(await status()).toEqual(paused)
    const answer = { type: 'collect_inputs', data: { item: 'Chair', amount: 3 } }
    expect((await call(service, 'POST', `/api/workflow/resume/${body.runId}`, answer)).status).toBe(200)
    await expect.poll(async () => (await status()).pauseSignal?.stepId, PATIENCE).toBe('decision')
  })

  test('two processes share the work; when one is killed the other continues', async () => {
    await openEffects(10)
    const database = await openDatabase()
    const start = () => startWeb({ databaseUrl: database.url, env: TEST_ENV, ...CREDENTIALS })
    const [first, second] = await Promise.all([start(), start()])
    cleanups.push(
      () => first.stop(),
      () => second.stop(),
    )
    const workflows = await publishKinds(() => second, effects)
    const running = carryRuns(() => second, workflows, 30, 60_000)
    await sleep(700)
    first.kill('SIGKILL')
    const { problems, runIds } = await running
    expect(problems).toEqual([])
    expect(runIds).toHaveLength(30)
    await expectSound(database.sql, effects)
  })
})
