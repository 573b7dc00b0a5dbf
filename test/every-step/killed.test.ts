import { afterAll, beforeAll, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { startWorker, type Worker } from '../support/service'
import { newTenant } from '../support/tenant'
import { killInEveryStep, WORKER_ENV } from './killed'
import { startWorld, type World } from './world'

let database: FreshDatabase
let world: World
let worker: Worker
const start = () => startWorker({ databaseUrl: database.url, env: WORKER_ENV })

beforeAll(async () => {
  database = await freshDatabase()
  Object.assign(process.env, { ...WORKER_ENV, DATABASE_URL: database.url })
  worker = await start()
})
afterAll(async () => {
  await worker?.stop()
  await world?.stop()
  await database?.close()
})

test('I39: a process that dies in a step of every type leaves each to the next one, which records it once', async () => {
  const ctx = await newTenant(database)
  world = await startWorld(ctx)
  const replace = async () => {
    worker.kill('SIGKILL')
    await worker.exited
    // With every process dead: all remaining work can be continued.
    await expectInvariants(database.sql)
    worker = await start()
  }
  await killInEveryStep(ctx, world, 'once', replace, () => false)
  await expectInvariants(database.sql)
})
