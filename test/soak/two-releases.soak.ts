import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openDatabase } from '@/db/index'
import { carry, expectSound, insist, publishKinds, repeats, verdict } from '../recovery/workload'
import { type Caller, TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { startWeb } from '../support/service'
import { scenario } from './rounds'

// OLD_RELEASE names the built sources of an earlier release, such as a clone of its tag in which `npm run build` ran.
const OLD = process.env.OLD_RELEASE
const RUNS = 60
const TOGETHER_MS = 20_000
const STUCK_MS = 90_000
const CREDENTIALS = { tenantId: 'ten_releases', apiKey: 'sk_releases_0123456789' }

if (!OLD)
  test.skip('I27: two releases work side by side (OLD_RELEASE names no built sources of an earlier one)', () => {})
else
  scenario('I27: two releases work side by side, and then the newer one alone', 1, async (soak) => {
    const database = await freshDatabase()
    soak.after(() => database.close())
    const effects = await startEffects(({ body }) => ({ delayMs: 20, body: { id: body.id, text: 'x'.repeat(20_000) } }))
    soak.after(() => effects.stop())
    const start = async (root?: string) => {
      const web = await startWeb({
        databaseUrl: database.url,
        env: TEST_ENV,
        ...CREDENTIALS,
        ...(root ? { root } : {}),
      })
      soak.after(() => web.stop())
      return web
    }
    const older = await start(OLD)
    const webs: Caller[] = [older]
    let next = 0
    const caller = () => webs[next++ % webs.length] as Caller
    const kinds = await publishKinds(caller, effects, { blob: { type: 'string' } })
    const carried: Promise<string[]>[] = []
    const begin = async (n: number) => {
      const path = `/api/workflow/start-async/${kinds[n % kinds.length]}`
      const { answer, lost } = await insist(caller, 'POST', path, { blob: `${n}`.padEnd(50_000, '.') })
      if (lost > 0 || answer.status !== 200)
        throw new Error(`a start was answered ${answer.status}, ${lost} times lost`)
      const { runId } = answer.body
      carried.push(
        carry(caller, runId, STUCK_MS).then(({ run, accepted }) => {
          const whole = (run.data as { blob?: string }).blob?.length === 50_000
          return [...verdict(run, accepted), ...(whole ? [] : [`${runId} has lost a field`])]
        }),
      )
    }
    const beginAll = async (from: number, to: number) => {
      for (let n = from; n < to; n++) {
        await begin(n)
        await sleep(TOGETHER_MS / RUNS)
      }
    }
    await beginAll(0, RUNS / 3)
    const newer = await start()
    webs.push(newer)
    await beginAll(RUNS / 3, RUNS)
    webs.splice(0, 1)
    // Requests that users had sent to it were answered; the other release continues its work.
    await older.stop()
    await beginAll(RUNS, RUNS + RUNS / 3)
    const problems = (await Promise.all(carried)).flat()
    expect(problems).toEqual([])
    const { sql, close } = openDatabase(database.url, { max: 2 })
    const [stored] = await sql`select count(*)::int as runs, count(data_refs)::int as by_reference from runs`
    soak.say(
      `${stored?.runs} runs, ${stored?.by_reference} with large fields by reference; effects again: ${repeats(effects).size}`,
    )
    expect(Number(stored?.by_reference)).toBeGreaterThan(0)
    expect(repeats(effects).size).toBe(0)
    await expectSound(sql, effects).finally(close)
  })
