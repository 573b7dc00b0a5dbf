import { afterAll, beforeAll, describe } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startInngestRuntime } from '../support/inngest-runtime'
import type { TestRuntime } from '../support/runtime'
import { everyStepSuite } from './suite'
import { IMPATIENT, startWorld, type World } from './world'

/*
 * Needs a real Inngest server, such as `inngest dev --no-discovery --no-poll --retry-interval 1 --tick 10`, with its
 * address in INNGEST_BASE_URL.
 */
const baseUrl = process.env.INNGEST_BASE_URL

describe.skipIf(!baseUrl)(`on a real Inngest server (${baseUrl ?? 'skipped: INNGEST_BASE_URL is not set'})`, () => {
  let database: FreshDatabase
  let runtime: TestRuntime
  let world: World
  beforeAll(async () => {
    database = await freshDatabase({ max: 20 })
    runtime = await startInngestRuntime(database.url, IMPATIENT)
    world = await startWorld(runtime.ctx)
  })
  afterAll(async () => {
    await runtime?.stop()
    await world?.stop()
    await database?.close()
  })

  everyStepSuite(() => ({ runtime, world }))
})
