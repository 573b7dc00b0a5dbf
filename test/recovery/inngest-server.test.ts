import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, TEST_ENV } from '../support/api'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { freePort } from '../support/free-port'
import { startInngestWeb } from '../support/inngest-web'
import type { Web } from '../support/service'
import { startLoad } from './load'
import { carry, expectSound, publishKinds, repeats, verdict } from './workload'

/*
 * Needs a real Inngest server, such as `inngest dev --no-discovery --no-poll --retry-interval 1 --tick 10`, with its
 * address in INNGEST_BASE_URL; with the keys in INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY, a self-hosted one.
 */
const baseUrl = process.env.INNGEST_BASE_URL

describe.skipIf(!baseUrl)(
  `the service on a real Inngest server (${baseUrl ?? 'skipped: INNGEST_BASE_URL is not set'})`,
  () => {
    let database: FreshDatabase
    let effects: EffectServer
    let web: Web
    let start: () => Promise<Web>
    beforeAll(async () => {
      database = await freshDatabase()
      effects = await startEffects((effect) => ({ delayMs: 20, body: { id: effect.body.id } }))
      const port = await freePort()
      const credentials = { tenantId: 'ten_recovery', apiKey: 'sk_recovery_0123456789' }
      start = () => startInngestWeb({ databaseUrl: database.url, env: TEST_ENV, port, ...credentials })
      web = await start()
    })
    afterAll(async () => {
      await web?.stop()
      await effects?.stop()
      await database?.close()
    })
    const caller = () => web

    test('a hundred runs of every kind that start at once are carried to their ends, and no step runs twice', async () => {
      const workflows = await publishKinds(caller, effects)
      const starts = await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          call(web, 'POST', `/api/workflow/start-async/${workflows[i % workflows.length]}`, {}),
        ),
      )
      expect(starts.filter(({ status }) => status !== 200)).toEqual([])
      const ended = await Promise.all(starts.map(({ body }) => carry(caller, body.runId, 200_000)))
      expect(ended.flatMap(({ run, accepted }) => verdict(run, accepted))).toEqual([])
      expect(repeats(effects)).toEqual(new Map())
      await expectSound(database.sql, effects)
    })

    test('the service is killed twice while callers start, answer, cancel and terminate: every promise is kept', async () => {
      let next = 0
      const stops = [null, { how: 'cancel', afterMs: 300 }, null, null, { how: 'terminate', afterMs: 200 }] as const
      const load = await startLoad(caller, effects, { stop: () => stops[next++ % stops.length] ?? null })
      for (let kill = 0; kill < 2; kill++) {
        await load.more(20)
        web.kill('SIGKILL')
        await web.exited
        await sleep(1_000)
        web = await start()
      }
      await load.more(20)
      expect(await load.finish()).toEqual([])
      await expectSound(database.sql, effects)
    })
  },
  400_000,
)
