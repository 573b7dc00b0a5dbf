import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { expect } from 'vitest'
import { call, hangUp, loop } from '../../bench/drive'
import { fiveSteps } from '../../bench/workflows'
import { TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { startWeb } from '../support/service'
import { scenario } from './rounds'

const SECONDS = 8
/** Callers that reach the peak, each with one synchronous start in flight. */
const PEAK_CALLERS = 64
const TIMES = 5
/** The flood's client. A refusal takes a millisecond, and an accepted start as long as its write. */
const CONNECTIONS = 512

scenario(
  'five times what the service can do: goodput stays at 80 % of the peak, nothing acknowledged is lost',
  3,
  async (soak) => {
    const database = await freshDatabase()
    soak.after(() => database.close())
    soak.after(hangUp)
    const web = await startWeb({ databaseUrl: database.url, env: { ...TEST_ENV, QUEUE_LIMIT: '2000' } })
    soak.after(() => web.stop())
    const headers = { 'x-api-key': web.apiKey, 'x-tenant-id': web.tenantId }
    const made = await call('POST', `${web.url}/api/workflows`, fiveSteps('trivial', { http: '' }, ''), headers)
    await call('POST', `${web.url}/api/workflows/${made.body.id}/publish`, {}, headers)
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

    // Sent at a fixed rate regardless of answers, as by callers that do not know of each other.
    const statuses = new Map<number, number>()
    const acknowledged: string[] = []
    const bad: unknown[] = []
    const open = new Set<Promise<void>>()
    // A cheaper client than Node's own, which takes its processor time from the service.
    const flooding = new Pool(web.url, { connections: CONNECTIONS })
    soak.after(() => flooding.close())
    const start = {
      method: 'POST',
      path: `/api/workflow/start-async/${made.body.id}`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ n: 1 }),
    } as const
    const one = async () => {
      const { statusCode: status, body } = await flooding.request(start)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 429 || status === 503) return void (await body.dump())
      const answer = (await body.json()) as { runId: string }
      if (status === 200) acknowledged.push(answer.runId)
      else bad.push({ status, answer })
    }
    const flood = async (rate: number, seconds: number) => {
      const from = performance.now()
      for (let sent = 0; performance.now() - from < seconds * 1_000; await sleep(5)) {
        for (const due = ((performance.now() - from) / 1_000) * rate; sent < due; sent++) {
          const call = one().catch((error: unknown) => void bad.push(error))
          open.add(call)
          void call.finally(() => open.delete(call))
        }
      }
    }
    const drain = async () => {
      await Promise.all(open)
      while ((await count(`status = 'running'`)) > 0) await sleep(100)
    }

    // So that neither measurement includes code that has not run before.
    await callers(5)
    await flood(1_000, 4)
    await drain()
    // In turns, because the machine itself changes from minute to minute.
    const [peaks, loads]: [number[], number[]] = [[], []]
    for (let round = 1; round <= soak.rounds; round++) {
      const peak = await goodput(() => callers(SECONDS))
      // Until the queue is full.
      await flood(peak * TIMES, 4)
      const loaded = await goodput(() => flood(peak * TIMES, SECONDS))
      await drain()
      peaks.push(peak)
      loads.push(loaded)
      soak.say(`${peak.toFixed(0)} runs/s at the peak, ${loaded.toFixed(0)} with ${(peak * TIMES).toFixed(0)} starts/s`)
    }
    const sum = (all: number[]) => all.reduce((total, n) => total + n, 0)
    const share = sum(loads) / sum(peaks)
    soak.say(`goodput ${share.toFixed(2)} of the peak; answers ${JSON.stringify(Object.fromEntries(statuses))}`)
    expect(bad.slice(0, 5)).toEqual([])
    const [kept] = await database.sql<{ n: number }[]>`
      select count(*)::int as n from runs where status = 'completed' and id = any(${acknowledged})`
    expect(kept?.n).toBe(acknowledged.length)
    // The checker, which runs when the service stops, takes minutes for this many.
    await database.sql`truncate runs cascade`
    expect(share).toBeGreaterThan(0.8)
  },
)
