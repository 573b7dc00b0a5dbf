import { killInEveryStep, WORKER_ENV } from '../every-step/killed'
import { startWorld } from '../every-step/world'
import { freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { startWorker } from '../support/service'
import { newTenant } from '../support/tenant'
import { scenario } from './rounds'

scenario('I39: kill -9 in a step of every type: the next process records each once', 30, async (soak) => {
  const database = await freshDatabase()
  soak.after(() => database.close())
  Object.assign(process.env, { ...WORKER_ENV, DATABASE_URL: database.url })
  const ctx = await newTenant(database)
  const world = await startWorld(ctx)
  soak.after(() => world.stop())
  const start = () => startWorker({ databaseUrl: database.url, env: WORKER_ENV })
  let worker = await start()
  soak.after(() => worker.stop())
  const replace = async () => {
    worker.kill('SIGKILL')
    await worker.exited
    await expectInvariants(database.sql)
    worker = await start()
  }
  const times: number[] = []
  for (let round = 1; round <= soak.rounds; round++) {
    const from = performance.now()
    await killInEveryStep(ctx, world, String(round), replace, () => soak.random() < 0.5)
    times.push(performance.now() - from)
  }
  soak.say(`${soak.rounds} kills, the slowest round took ${Math.round(Math.max(...times))} ms`)
  await expectInvariants(database.sql)
})
