import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect } from 'vitest'
import { systemContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { log } from '@/server/log'
import { repeat } from '../../bench/drive'
import { percentile } from '../../bench/stats'
import { type Caller, call, TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { startWeb } from '../support/service'
import { newTenant, withRole } from '../support/tenant'
import { scenario } from './rounds'

const HELLO_MS = 2_000
/** How long the neighbour is measured under each load. */
const WATCHED_MS = 25_000
const SLOW_MS = 20_000
/** Values of one megabyte in the result of one run: refused as `CONFIG_TOO_LARGE`. */
const TIMES = 480

/** Of the workflow that is tried on a draft. */
const PAST_RUNS = 1_000
/** Of one load. */
const CALLERS = 32

const END = { id: 'end', type: 'end-flow' }
const then = (step: object) => ({ steps: [{ id: 'work', ...step }, END], edges: [{ from: 'work', to: 'end' }] })

scenario(
  'I23: queued runs, endless scripts, slow tools, amplifying runs and backtests of one tenant: another’s hello takes under 2 s',
  1,
  async (soak) => {
    const database = await freshDatabase()
    soak.after(() => database.close())
    const effects = await startEffects(({ path }) => ({ delayMs: path === '/slow' ? SLOW_MS : 200 }))
    soak.after(() => effects.stop())
    const web = await startWeb({ databaseUrl: database.url, env: { ...TEST_ENV, ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
    soak.after(() => web.stop())
    const tenant = await newTenant(database)
    const ctx = withRole(systemContext({ tenantId: tenant.tenantId, db: database.db, log: log() }), 'owner')
    const { key } = await createApiKey(ctx, { name: 'neighbour', role: 'owner' })
    const neighbour: Caller = { url: web.url, apiKey: key, tenantId: tenant.tenantId }

    const make = async (who: Caller, path: string, body: object) => {
      const answer = await call(who, 'POST', path, body)
      expect(answer.status, JSON.stringify(answer.body)).toBe(201)
      return answer.body.id as string
    }
    const workflow = (who: Caller, name: string, flow: object) => make(who, '/api/workflows', { name, ...flow })
    const tool = (who: Caller, name: string, kind: string, config: object) =>
      make(who, '/api/tools', { name, kind, config })
    const calls = (toolId: string) => then({ type: 'call-tool', toolId, args: {}, saveAs: 'said' })

    const greet = await tool(neighbour, 'greet', 'script', { code: 'return "Hello"' })
    const hello = await workflow(neighbour, 'hello', calls(greet))
    const queued = await workflow(web, 'queued', then({ type: 'test-effect', url: effects.url, body: {} }))
    const loops = await tool(web, 'endless', 'script', { code: 'for (;;);', timeoutMs: 10_000 })
    const endless = await workflow(web, 'endless', calls(loops))
    const slowly = await tool(web, 'slow', 'http', { url: `${effects.url}slow`, timeoutMs: SLOW_MS + 10_000 })
    const slow = await workflow(web, 'slow', calls(slowly))
    const output = { x: Array.from({ length: TIMES }, () => '${s}') }
    const payload = { s: { type: 'string' } }
    const amplifying = await workflow(web, 'amplifying', { payload, steps: [{ ...END, output }], edges: [] })

    const tried = await workflow(web, 'tried', manySteps('settled'))
    await repeat(PAST_RUNS, CALLERS, async () => {
      const { status } = await call(web, 'POST', `/api/workflow/start/${tried}`, { total: 5 })
      expect(status).toBe(200)
    })
    const changed = await call(web, 'PUT', `/api/workflows/${tried}`, { name: 'tried', ...manySteps('changed') })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)

    const startsOf = (workflowId: string, count: number, body: object = {}) =>
      atOnce(CALLERS, count, () => call(web, 'POST', `/api/workflow/start-async/${workflowId}`, body))
    const LOADS: Record<string, () => Promise<number[]>> = {
      '1,000 queued runs': () => startsOf(queued, 1_000),
      '50 endless scripts': async () => {
        const invoked = atOnce(25, 25, () => call(web, 'POST', `/api/tools/${loops}/invoke`, {}))
        return [...(await startsOf(endless, 25)), ...(await invoked)]
      },
      '200 slow tools': () => startsOf(slow, 200),
      '24 amplifying runs': () => startsOf(amplifying, 24, { s: 'x'.repeat(1_000_000) }),
      '64 backtests': () =>
        atOnce(4, 64, () => call(web, 'POST', `/api/workflows/${tried}/backtest`, { runs: PAST_RUNS })),
    }

    const headers = { 'content-type': 'application/json', 'x-api-key': key, 'x-tenant-id': tenant.tenantId }
    /** Calls hello repeatedly, and starts the load once the caller is ready. */
    const watch = async <T>(begin: () => T) => {
      const workerData = { url: `${web.url}/api/workflow/start/${hello}`, headers, forMs: WATCHED_MS }
      const thread = new Worker(new URL('./hellos.mjs', import.meta.url), { workerData })
      await once(thread, 'message')
      const begun = begin()
      const [{ times, failures }] = (await once(thread, 'message')) as [{ times: number[]; failures: unknown[] }]
      return { times: times.sort((a, b) => a - b), failures, begun }
    }
    const empty = async () => {
      const open = await database.sql<{ id: string }[]>`
        select id from runs where tenant_id = ${web.tenantId} and end_time is null`
      for (const { id } of open) await call(web, 'POST', '/api/workflow/management/terminate', { runId: id })
    }

    await watchOnce()
    for (const [name, begin] of Object.entries(LOADS)) await under(name, begin)
    const all = async () => (await Promise.all(Object.values(LOADS).map((begin) => begin()))).flat()
    await under('all of them together', all)

    async function watchOnce() {
      const { times, failures } = await watch(() => {})
      soak.say(`alone: ${say(times)}`)
      expect(failures).toEqual([])
    }
    async function under(name: string, begin: () => Promise<number[]>) {
      const { times, failures, begun } = await watch(begin)
      const statuses = new Map<number, number>()
      for (const status of await begun) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await empty()
      soak.say(`${name}: ${say(times)}; its own calls ${JSON.stringify(Object.fromEntries(statuses))}`)
      expect(failures.slice(0, 3)).toEqual([])
      expect(times.at(-1)).toBeLessThan(HELLO_MS)
      // Its own calls were answered, at worst with a refusal.
      expect([...statuses.keys()].filter((status) => ![200, 202, 429, 503].includes(status))).toEqual([])
    }
    function say(times: readonly number[]) {
      const [p50, p99] = [0.5, 0.99].map((share) => Math.round(percentile(times, share)))
      return `${times.length} hellos, p50 ${p50}, p99 ${p99}, longest ${Math.round(times.at(-1) ?? 0)} ms`
    }
  },
)

/** A workflow of twenty steps that decide nothing and compute a field. */
function manySteps(prefix: string) {
  const ids = Array.from({ length: 19 }, (_, at) => `set${at}`)
  const steps = ids.map((id) => ({ id, type: 'set-data', values: { [id]: `${prefix} ${'${total}'}` } }))
  const edges = ids.map((from, at) => ({ from, to: ids[at + 1] ?? END.id }))
  return { payload: { total: { type: 'number' } }, steps: [...steps, { ...END, output: '${set18}' }], edges }
}

/** Makes this many calls, at most one per caller concurrently. @returns the statuses */
async function atOnce(callers: number, count: number, start: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = []
  await repeat(count, callers, async () => statuses.push((await start()).status))
  return statuses
}
