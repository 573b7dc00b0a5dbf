import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInbound } from '@/server/inbound/save'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROCESSES = 3
const ROUNDS = 3
const DELIVERIES = 20

let database: FreshDatabase
const children = new Set<ChildProcess>()
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await database?.close()
})

/** A process that receives. Once it runs it can be killed. */
function startOne(hookId: string, told: (delivery: string, runId: string | null) => void): Promise<ChildProcess> {
  const args = ['--import', 'tsx', '--conditions=react-server', 'test/inbound/receive-child.ts', database.url, hookId]
  const env = { PATH: process.env.PATH, LOG_LEVEL: 'error' } as unknown as NodeJS.ProcessEnv
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  children.add(child)
  return new Promise((done, fail) => {
    child.once('exit', (code) => fail(new Error(`ended with ${code}`)))
    child.once('message', () => {
      child.on('message', ({ delivery, runId }: { delivery: string; runId: string | null }) => told(delivery, runId))
      done(child)
    })
  })
}

test('each delivery starts one run, while the processes that receive it are killed and it is sent to all of them', async () => {
  const ctx = await newTenant(database)
  const steps = [{ id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } } }]
  const { id: workflowId } = await createWorkflow(ctx, { name: 'From outside', steps })
  const body = { name: 'All', scheme: 'none', idHeader: 'X-Id' }
  const hookId = (await createInbound(ctx, { workflowId, body })).path.split('/').at(-1) ?? ''
  /** The runs in the responses to each delivery. */
  const answers = new Map<string, Set<string | null>>()
  const told = (delivery: string, runId: string | null) => {
    answers.set(delivery, (answers.get(delivery) ?? new Set()).add(runId))
  }
  const running = await Promise.all(Array.from({ length: PROCESSES }, () => startOne(hookId, told)))
  for (let round = 0; round < ROUNDS; round++) {
    const sent = Array.from({ length: DELIVERIES }, (_, i) => `${round}-${i}`)
    for (const delivery of sent) for (const child of running) child.send(delivery)
    // In the middle of it: some are answered and some are not.
    const isUnderWay = () => sent.filter((delivery) => answers.has(delivery)).length
    await expect.poll(isUnderWay, { interval: 1 }).toBeGreaterThan(round)
    const victim = running.shift()
    victim?.removeAllListeners('exit')
    victim?.kill('SIGKILL')
    running.push(await startOne(hookId, told))
    // A sender without an answer sends again.
    for (const delivery of sent) for (const child of running) child.send(delivery)
    await expect.poll(() => sent.every((delivery) => answers.has(delivery)), { timeout: 20_000 }).toBe(true)
  }
  for (const child of children) child.kill('SIGKILL')

  expect(answers.size).toBe(ROUNDS * DELIVERIES)
  const runs = await database.sql<{ id: string }[]>`select id from runs`
  expect(runs).toHaveLength(ROUNDS * DELIVERIES)
  const given = [...answers.values()].map((ids) => [...ids])
  expect(given.filter((ids) => ids.length !== 1)).toEqual([])
  expect(given.flat().sort()).toEqual(runs.map(({ id }) => id).sort())
  const rows = await database.sql`select status from inbound_deliveries where status = 'started'`
  expect(rows).toHaveLength(ROUNDS * DELIVERIES)
})
