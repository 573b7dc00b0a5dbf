import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { call, hangUp, loop } from '../../bench/drive'
import { fiveSteps } from '../../bench/workflows'
import { TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { startWeb } from '../support/service'
import { scenario } from './rounds'

const SECONDS = 15
/** Callers that reach the peak, each with one synchronous start in flight. */
const PEAK_CALLERS = 64
const TIMES = 5

scenario(
  'five times what the service can do: goodput stays at 80 % of the peak, nothing acknowledged is lost',
  1,
  async (soak) => {
    const database = await freshDatabase()
    soak.after(() => database.drop())
    soak.after(hangUp)
    const web = await startWeb({ databaseUrl: database.url, env: { ...TEST_ENV, QUEUE_LIMIT: '2000' } })
    soak.after(() => web.stop())
    const headers = { 'x-api-key': web.apiKey, 'x-tenant-id': web.tenantId }
    const made = await call('POST', `${web.url}/api/workflows`, fiveSteps('trivial', { http: '' }, ''), headers)
    const post = (path: string) => call('POST', `${web.url}/api/workflow/${path}/${made.body.id}`, { n: 1 }, headers)
    const count = async (where: string) => {
      const [row] = await database.sql<{ n: number }[]>`
        select count(*)::int as n from runs where ${database.sql.unsafe(where)}`
      return row?.n ?? 0
    }
    const ended = () => count('end_time is not null')
    const goodput = async (work: () => Promise<unknown>) => {
      const [before, from] = [await ended(), performance.now()]
      await work()
      return ((await ended()) - before) / ((performance.now() - from) / 1_000)
    }
    const callers = (seconds: number) => loop(PEAK_CALLERS, seconds, async () => (await post('start')).ms)

    await callers(8)
    const peak = await goodput(() => callers(SECONDS))

    // Sent at a fixed rate whatever comes back, as callers do who do not know of each other.
    const statuses = new Map<number, number>()
    const acknowledged: string[] = []
    const bad: unknown[] = []
    const one = async () => {
      const { status, body } = await post('start-async')
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 200) acknowledged.push(body.runId)
      else if (status !== 429 && status !== 503) bad.push({ status, body })
    }
    const open = new Set<Promise<void>>()
    let offered = 0
    let most = 0
    const flood = async (seconds: number) => {
      const from = performance.now()
      for (let sent = 0; performance.now() - from < seconds * 1_000; await sleep(5)) {
        for (const due = ((performance.now() - from) / 1_000) * peak * TIMES; sent < due; sent++) {
          offered++
          const call = one().catch((error: unknown) => void bad.push(error))
          open.add(call)
          most = Math.max(most, open.size)
          void call.finally(() => open.delete(call))
        }
      }
    }
    // Until the queue is full.
    await flood(10)
    statuses.clear()
    offered = 0
    const loaded = await goodput(() => flood(SECONDS))
    soak.say(
      `peak ${peak.toFixed(0)} runs/s, offered ${(offered / SECONDS).toFixed(0)}/s, goodput ${loaded.toFixed(0)} runs/s`,
    )
    soak.say(
      `${(loaded / peak).toFixed(2)} of the peak; answers ${JSON.stringify(Object.fromEntries(statuses))}, ${most} open at once`,
    )
    await Promise.all(open)
    const drained = await goodput(async () => {
      while ((await count(`status = 'running'`)) > 0) await sleep(200)
    })
    soak.say(`without callers the queue drains at ${drained.toFixed(0)} runs/s`)
    expect(bad.slice(0, 5)).toEqual([])
    const [kept] = await database.sql<{ n: number }[]>`
      select count(*)::int as n from runs where status = 'completed' and id = any(${acknowledged})`
    expect(kept?.n).toBe(acknowledged.length)
    await expectInvariants(database.sql)
    expect(loaded).toBeGreaterThan(0.8 * peak)
  },
)
