import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { startLoad } from '../recovery/load'
import { TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { startWeb } from '../support/service'
import { scenario } from './rounds'

const LEASE_MS = 15_000

scenario('I16: a process stopped for twice its lease writes nothing when it wakes', 5, async (soak) => {
  const effects = await startEffects(({ body }) => ({ delayMs: 20, body: { id: body.id } }))
  soak.after(() => effects.stop())
  const database = await freshDatabase()
  soak.after(() => database.close())
  const first = await startWeb({ databaseUrl: database.url, env: TEST_ENV })
  soak.after(() => first.stop())
  const { tenantId, apiKey } = first
  const second = await startWeb({ databaseUrl: database.url, env: TEST_ENV, tenantId, apiKey })
  soak.after(() => second.stop())

  const load = await startLoad(() => second, effects)
  for (let round = 1; round <= soak.rounds; round++) {
    await load.more(10)
    await sleep(soak.random() * 500)
    first.kill('SIGSTOP')
    await sleep(2 * LEASE_MS)
    // Another process has taken over its claims and moved on.
    await expectInvariants(database.sql)
    first.kill('SIGCONT')
    await load.more(10)
  }
  expect(await load.finish()).toEqual([])
  await expectInvariants(database.sql)
  // A process that wakes may still begin the effect it was about to begin: its record is refused, the call is not.
  const broken = await checkEffects(database.sql, effects.seen)
  const late = broken.filter(({ says }) => says.includes('never runs again') || says.includes('after the end'))
  soak.say(`${load.acknowledged.length} promises, ${late.length} effects begun by a process that had been replaced`)
  expect(broken.filter((violation) => !late.includes(violation))).toEqual([])
  expect(late.length).toBeLessThanOrEqual(soak.rounds)
})
