import { connect as connectTcp, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isUnavailable, openDatabase } from '@/db/index'
import type { ServiceContext } from '@/server/context'
import { readsDatabase, database as serviceDatabase } from '@/server/database'
import type { JsonObject } from '@/server/definition/json'
import { AppError } from '@/server/errors'
import { largeRead } from '@/server/large-reads'
import { readHistory } from '@/server/runs/history'
import type { PresentedRun } from '@/server/runs/present'
import { getRunStatus } from '@/server/runs/status'
import { readValue } from '@/server/runs/whole-value'
import { getRunOverview } from '@/server/views/runs/overview'
import { readTimeline } from '@/server/views/runs/timeline'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { seedLongRun } from '../support/seed-runs'

const KIB = 1024
let database: FreshDatabase
let runtime: TestRuntime
let stranger: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  stranger = await runtime.as('owner', 'ten_other')
})
afterAll(async () => {
  await runtime?.stop()
  await readsDatabase().close()
  await database?.close()
})

/** A run with this many records, each with an output of this size. */
async function runOf(
  records: number,
  bytes: number,
  options: { sizes?: boolean; data?: number } = {},
): Promise<string> {
  const { sizes = true, data = 0 } = options
  const { runId } = await seedLongRun(database.sql, runtime.ctx.tenantId, records)
  await database.sql.begin(async (tx) => {
    await tx.unsafe(
      `update step_records set input_data = '{}', output_data = jsonb_build_object('text', repeat('x', $1::int)),
         input_bytes = $2, output_bytes = $3 where run_id = $4`,
      [bytes, sizes ? 2 : null, sizes ? bytes + 11 : null, runId],
    )
    if (data > 0)
      await tx.unsafe(`update runs set data = jsonb_build_object('text', repeat('x', $1::int)) where id = $2`, [
        data,
        runId,
      ])
  })
  return runId
}
const outputs = (run: Pick<PresentedRun, 'stepExecutionHistory'>) =>
  run.stepExecutionHistory.map(({ outputData }) => outputData as JsonObject)

describe('the status of a large run', () => {
  test('of 170 records of 0.9 MB contains links in place of the values', async () => {
    const runId = await runOf(170, 900_000, { data: 100 * KIB })
    const run = await runtime.status(runId)
    expect(JSON.stringify(run).length).toBeLessThan(100 * KIB)
    expect(run.stepExecutionHistory).toHaveLength(170)
    expect(run).not.toHaveProperty('historyTotal')
    for (const output of outputs(run)) {
      expect(output).toEqual({
        $cut: true,
        size: 900_011,
        href: expect.stringContaining(`/api/workflow/value/${runId}?`),
      })
    }
    expect(run.data).toMatchObject({ $cut: true, size: expect.any(Number) })
    for (const [value, size] of [[outputs(run)[7], 890_000] as const, [run.data as JsonObject, 100_000] as const]) {
      const query = Object.fromEntries(new URL(String(value?.href), 'http://x').searchParams)
      const { value: whole } = await readValue(runtime.ctx, runId, query)
      expect(String((whole as JsonObject).text).length).toBeGreaterThan(size)
    }
    const overview = await getRunOverview(runtime.ctx, { runId })
    expect(overview.data).toMatchObject({ size: expect.any(Number), preview: expect.stringContaining('text') })
    expect((await readTimeline(runtime.ctx, { runId })).rows).toHaveLength(170)
  })

  test('keeps small values, and uses a lower cut-off when many values are of medium size', async () => {
    const runId = await runOf(400, 60 * KIB)
    const first = await runtime.status(runId)
    expect(outputs(first).every(({ $cut }) => $cut === true)).toBe(true)
    await database.sql`
      update step_records set output_data = '{"kept":1}', output_bytes = 10 where run_id = ${runId} and visit = 1`
    const run = await runtime.status(runId)
    expect(outputs(run).slice(0, 200)).toEqual(Array(200).fill({ kept: 1 }))
    // The remaining values fit.
    expect(
      outputs(run)
        .slice(200)
        .every(({ $cut }) => $cut === undefined),
    ).toBe(true)
  })

  test('contains every byte of up to 16 MiB, whether or not the sizes of its values were stored', async () => {
    for (const sizes of [true, false]) {
      const run = await runtime.status(await runOf(15, 900_000, { sizes }))
      expect(outputs(run).map(({ text }) => String(text).length)).toEqual(Array(15).fill(900_000))
    }
  })

  test('of more than 5,000 records contains the open and the newest ones, and a link to all', async () => {
    const runId = await runOf(5_400, 32)
    await database.sql`update step_records set status = 'running', end_time = null where run_id = ${runId} and visit = 1 and step_id = 'step_3'`
    const run = await runtime.status(runId)
    expect(run).toMatchObject({ historyTotal: 5_400, historyHref: `/api/workflow/history/${runId}` })
    expect(run.stepExecutionHistory).toHaveLength(5_001)
    expect(run.stepExecutionHistory[0]).toMatchObject({ stepId: 'step_3', visit: 1, status: 'running' })
    const seen: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await readHistory(runtime.ctx, runId, { limit: '1000', ...(after === undefined ? {} : { after }) })
      expect(page.historyTotal).toBe(5_400)
      seen.push(...page.stepExecutionHistory.map(({ stepId, visit }) => `${stepId}#${visit}`))
      if (page.next === null) break
      after = page.next
    }
    expect(seen).toHaveLength(5_400)
    expect(new Set(seen).size).toBe(5_400)
  })

  test('pages of the history are cut like the status', async () => {
    const runId = await runOf(60, 900_000)
    const { stepExecutionHistory } = await readHistory(runtime.ctx, runId, {})
    expect(stepExecutionHistory.every(({ outputData }) => '$cut' in (outputData as object))).toBe(true)
    const few = await readHistory(runtime.ctx, runId, { limit: '2' })
    expect(few.stepExecutionHistory.every(({ outputData }) => '$cut' in (outputData as object))).toBe(false)
  })

  test('history and values of another tenant are not found, and an invalid query is rejected', async () => {
    const runId = await runOf(3, 32)
    await expect(readHistory(stranger, runId, {})).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    for (const query of [{ field: 'data' }, { field: 'output', record: '1' }])
      await expect(readValue(stranger, runId, query)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    for (const query of [{}, { field: 'output' }, { field: 'data', record: '1' }, { field: 'output', record: 'x' }])
      await expect(readValue(runtime.ctx, runId, query)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    for (const query of [{ after: '-1' }, { limit: '0' }, { limit: '1001' }])
      await expect(readHistory(runtime.ctx, runId, query)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('large reads', () => {
  test('by one tenant do not delay runs and reads of others', async () => {
    const runId = await runOf(170, 900_000)
    const answers = Array.from({ length: 40 }, () =>
      getRunStatus(runtime.ctx, { runId }).then(
        () => 'read',
        (err: unknown) => (err instanceof AppError ? `${err.code} ${err.headers['retry-after']}` : String(err)),
      ),
    )
    const small = await runtime.start({ steps: [{ id: 'a', type: 'test-effect', body: { done: true } }] })
    expect((await runtime.wait(small)).status).toBe('completed')
    const all = await Promise.all(answers)
    // On a slow machine the server may also end a read that takes too long there.
    for (const one of all) expect(one).toMatch(/^(read$|UNAVAILABLE 2$|DatabaseUnavailable: )/)
    expect(all).toContain('read')
  })

  test('queue fairly by tenant, and wait only for the given time', async () => {
    const order: string[] = []
    const work = (name: string) => async () => {
      order.push(name)
      await sleep(100)
    }
    const mine = (name: string) => largeRead(runtime.ctx, work(name), 20_000)
    const theirs = (name: string) => largeRead(stranger, work(name), 20_000)
    const running = [mine('a1'), mine('a2'), mine('a3'), theirs('b1'), theirs('b2')]
    await expect(largeRead(runtime.ctx, work('never'), 1)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      headers: { 'retry-after': '2' },
    })
    await Promise.all(running)
    // A tenant has one of the two places, so another tenant starts at once.
    expect(order.slice(0, 2)).toEqual(['a1', 'b1'])
    expect(order).toHaveLength(5)
    await expect(largeRead(runtime.ctx, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await largeRead(runtime.ctx, async () => 'free again', 1)).toBe('free again')
  })

  test('use separate connections, on which the server ends slow statements', async () => {
    const [ours] = await readsDatabase().sql<{ pid: number; limit: string }[]>`
      select pg_backend_pid() as pid, current_setting('statement_timeout') as limit`
    expect(ours?.limit).toBe('10s')
    const pids = await Promise.all(
      Array.from(
        { length: 5 },
        () => serviceDatabase().sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.1)`,
      ),
    )
    expect(pids.flat().map(({ pid }) => pid)).not.toContain(ours?.pid)
  })
})

describe('a pool with a statement time limit', () => {
  test('reports a server time-out like an unavailable database', async () => {
    const pool = openDatabase(database.url, { max: 2, statementTimeoutMs: 100, deadlineMs: 60_000 })
    await expect(pool.sql`select pg_sleep(5)`).rejects.toMatchObject({ code: '57014' })
    await pool.close()
  })

  test('goes without the limit if a pooler rejects it', async () => {
    const pooler = await rejecting(['statement_timeout'])
    const pool = openDatabase(pooler.url, { max: 2, statementTimeoutMs: 1_000 })
    await expect(pool.sql`select 1 as one`).rejects.toMatchObject({ code: '08P01' })
    expect(await pool.sql`select 1 as one`).toEqual([{ one: 1 }])
    expect(pooler.refused()).toBe(1)
    await pool.close()
    pooler.close()
  })

  test('goes without a setting that an older server does not know, and keeps the others', async () => {
    const refusal = { code: '42704', message: 'unrecognized configuration parameter "transaction_timeout"' }
    const older = await rejecting(['transaction_timeout'], refusal)
    const pool = openDatabase(older.url, { max: 2, statementTimeoutMs: 7_000 })
    const refused = await pool.sql`select 1`.catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: '42704' })
    expect(isUnavailable(refused)).toBe(true)
    expect(await pool.sql`show statement_timeout`).toEqual([{ statement_timeout: '7s' }])
    expect(await pool.sql`show transaction_timeout`).toEqual([{ transaction_timeout: '0' }])
    await pool.close()
    older.close()
  })

  test('keeps the limit if a pooler rejects other settings', async () => {
    const pooler = await rejecting(['enable_seqscan', 'enable_bitmapscan'])
    const pool = openDatabase(pooler.url, { max: 10, statementTimeoutMs: 7_000 })
    const ask = () => pool.db.$client.rows.unsafe('show statement_timeout')
    await expect(ask()).rejects.toMatchObject({ code: '08P01' })
    await expect(ask()).rejects.toMatchObject({ code: '08P01' })
    expect(await ask()).toEqual([{ statement_timeout: '7s' }])
    expect(await pool.sql`show statement_timeout`).toEqual([{ statement_timeout: '7s' }])
    await pool.close()
    pooler.close()
  })
})

/** A pooler, or a server, that rejects connections which request one of these settings. */
async function rejecting(settings: string[], refusal?: { code: string; message: string }) {
  const { host, socket, rewritten } = backendOf(database.url)
  let refused = 0
  const pooler = createServer((client) => {
    client.on('error', () => {})
    client.once('data', (hello) => {
      const rejected = settings.find((name) => hello.includes(name))
      if (rejected) {
        refused++
        const { code, message } = refusal ?? { code: '08P01', message: `unsupported startup parameter: ${rejected}` }
        const fields = `SFATAL\0VFATAL\0C${code}\0M${message}\0\0`
        const head = Buffer.from([69, 0, 0, 0, fields.length + 4])
        client.end(Buffer.concat([head, Buffer.from(fields)]))
        return
      }
      const server = connectTcp(host ?? socket)
      server.on('error', () => client.destroy())
      server.write(hello)
      client.pipe(server).pipe(client)
    })
  })
  await new Promise<void>((done) => pooler.listen(0, '127.0.0.1', done))
  const { port } = pooler.address() as { port: number }
  return { url: rewritten(port), refused: () => refused, close: () => pooler.close() }
}

/** The test server's address, and its URL through another port of this machine. */
function backendOf(url: string) {
  const parsed = new URL(url)
  const directory = parsed.searchParams.get('host')
  const host = directory ? null : { host: parsed.hostname, port: Number(parsed.port) }
  return {
    host,
    socket: { path: `${directory}/.s.PGSQL.${parsed.port || 5432}` },
    rewritten(port: number) {
      parsed.searchParams.delete('host')
      parsed.hostname = '127.0.0.1'
      parsed.port = String(port)
      return parsed.href
    },
  }
}
