import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { call, hangUp, loop } from '../../bench/drive'
import { rssBytes } from '../../bench/processes'
import { percentile } from '../../bench/stats'
import { fiveSteps } from '../../bench/workflows'
import { TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { startWeb } from '../support/service'
import { scenario } from './rounds'

const MINUTES = 10
const SHARE = 0.8
/** Callers that reach the ceiling, each with one synchronous start in flight. */
const CALLERS = 64
/** How long the ceiling is measured before each minute: a shared machine differs from one minute to the next. */
const PEAK_SECONDS = 15
const STATUS_MS = 100
/** Maximum growth of memory from the second minute to the last. */
const GROWTH = 1.1
/** One status call follows this many starts. */
const ASKED = 5

/** In whole milliseconds. */
const p = (times: readonly number[], share: number) =>
  Math.round(
    percentile(
      times.toSorted((a, b) => a - b),
      share,
    ),
  )

scenario(
  'ten minutes at 80 % of the ceiling: no error, 99 of 100 status calls under 100 ms, memory flat',
  MINUTES,
  async (soak) => {
    const database = await freshDatabase()
    soak.after(() => database.close())
    soak.after(hangUp)
    const web = await startWeb({ databaseUrl: database.url, env: TEST_ENV })
    soak.after(() => web.stop())
    const headers = { 'x-api-key': web.apiKey, 'x-tenant-id': web.tenantId }
    const made = await call('POST', `${web.url}/api/workflows`, fiveSteps('trivial', { http: '' }, ''), headers)
    await call('POST', `${web.url}/api/workflows/${made.body.id}/publish`, {}, headers)
    const start = () => call('POST', `${web.url}/api/workflow/start/${made.body.id}`, { n: 1 }, headers)

    await loop(CALLERS, 30, async () => (await start()).ms)

    const failures: unknown[] = []
    const asked: number[] = []
    const started: number[] = []
    const memory: number[] = []
    const open = new Set<Promise<void>>()
    const one = async (nth: number) => {
      const { status, body, ms } = await start()
      started.push(ms)
      if (status !== 200 || body.status !== 'completed') failures.push({ status, body })
      if (nth % ASKED > 0) return
      const answer = await call('GET', `${web.url}/api/workflow/status/${body.runId}`, undefined, headers)
      asked.push(answer.ms)
      if (answer.status !== 200) failures.push(answer)
    }
    const ceilings: number[] = []
    for (let minute = 1; minute <= soak.rounds; minute++) {
      const peak = await loop(CALLERS, PEAK_SECONDS, async () => (await start()).ms)
      const ceiling = peak.ms.length / peak.seconds
      ceilings.push(ceiling)
      const [seen, seenAsked, from] = [started.length, asked.length, performance.now()]
      // At a fixed rate, regardless of answers.
      for (let sent = 0; performance.now() - from < 60_000; await sleep(5)) {
        for (const due = ((performance.now() - from) / 1_000) * ceiling * SHARE; sent < due; sent++) {
          const sending = one(sent).catch((error: unknown) => void failures.push(error))
          open.add(sending)
          void sending.finally(() => open.delete(sending))
        }
      }
      memory.push(rssBytes([web.pid]) / 2 ** 20)
      const [starts, answers] = [started.slice(seen), asked.slice(seenAsked)]
      soak.say(
        `minute ${minute}, ${ceiling.toFixed(0)}/s at the ceiling: starts p50 ${p(starts, 0.5)} ms, status p50 ${p(answers, 0.5)} and p99 ${p(answers, 0.99)} ms, ${open.size} under way`,
      )
      // The next ceiling is that of an idle service.
      await Promise.all(open)
    }
    // The checker, which runs when the service stops, takes minutes for this many.
    await database.sql`truncate runs cascade`
    soak.say(`runs/s at the ceiling, before each minute: ${ceilings.map((each) => each.toFixed(0)).join(', ')}`)
    soak.say(`starts: ${started.length}, p50 ${p(started, 0.5)} ms, p99 ${p(started, 0.99)} ms`)
    soak.say(`status: ${asked.length}, p50 ${p(asked, 0.5)} ms, p99 ${p(asked, 0.99)} ms`)
    soak.say(`memory after each minute: ${memory.map((mib) => Math.round(mib)).join(', ')} MiB`)
    expect(failures.slice(0, 5)).toEqual([])
    expect(p(asked, 0.99)).toBeLessThan(STATUS_MS)
    const [after = 0] = memory.slice(1, 2)
    expect(memory.at(-1)).toBeLessThan(after * GROWTH)
  },
)
