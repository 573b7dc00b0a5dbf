import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { findDatabase } from '@/cli/find-database'
import { readEnv } from '@/server/env'
import { call, loop, openTarget, percentile, type Target } from './drive'
import { startForBench } from './service'

/**
 * Measures the whole product over HTTP against what this machine's database does on its own in the same minute. Quote
 * the ratios, not the absolute figures. Talks only to loopback and stops by itself.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, callers: { type: 'string', default: '16' } },
})
const seconds = Number(values.seconds)
const callers = Number(values.callers)

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const service = await startForBench(dataDir)
try {
  const target = openTarget(service.url, service.apiKey, callers)
  const sql = postgresFor(dataDir)
  const floor = { one: await insertRate(sql, 1), many: await insertRate(sql, callers) }
  print({
    what: 'single-row insert and commit',
    c1: round(floor.one),
    [`c${callers}`]: round(floor.many),
    unit: 'per second',
  })
  await measure('five trivial steps', target, fiveSteps('test-effect'), floor.many)
  await measure('five script tools', target, fiveSteps('call-tool'), floor.many)
  await sql.end()
  target.agent.destroy()
} finally {
  await service.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

async function measure(what: string, target: Target, workflow: object, floor: number): Promise<void> {
  const created = (await call(target, 'POST', '/api/workflows', workflow)).body as { id: string }
  const published = await call(target, 'POST', `/api/workflows/${created.id}/publish`, {})
  if (published.status !== 200) throw new Error(`not published: ${JSON.stringify(published.body)}`)
  const start = async () => {
    const answer = await call(target, 'POST', `/api/workflow/start/${created.id}`, { n: 1 })
    if (answer.status !== 200 || (answer.body as { status: string }).status !== 'completed') {
      throw new Error(`a run did not complete: ${answer.status} ${JSON.stringify(answer.body)}`)
    }
    return answer.ms
  }
  await loop(callers, 5, start)
  const rss: number[] = []
  const watch = setInterval(() => rss.push(service.rssMiB()), 1_000)
  const one = await loop(1, Math.min(10, seconds), start)
  const many = await loop(callers, seconds, start)
  clearInterval(watch)
  const rate = many.ms.length / many.seconds
  print({
    what,
    runs: many.ms.length,
    runsPerSecond: round(rate),
    ratioToInserts: Number((rate / floor).toFixed(4)),
    stepsToInserts: Number(((rate * 5) / floor).toFixed(3)),
    c1p50ms: round(percentile(one.ms, 0.5)),
    p50ms: round(percentile(many.ms, 0.5)),
    p99ms: round(percentile(many.ms, 0.99)),
    rssMiB: { first: rss.at(5), middle: rss[Math.floor(rss.length / 2)], last: rss.at(-1) },
  })
}

function fiveSteps(type: 'test-effect' | 'call-tool'): object {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const config =
    type === 'test-effect' ? { body: { n: '${n}' } } : { toolId: 'tool_add', args: { a: '${n}', b: 1 }, saveAs: 'n' }
  return {
    name: `bench ${type}`,
    payload: { n: { type: 'number' } },
    steps: [...ids.map((id) => ({ id, type, ...config })), { id: 'end', type: 'end-flow', output: { n: '${n}' } }],
    edges: ids.map((id, i) => ({ from: id, to: ids[i + 1] ?? 'end' })),
  }
}

function postgresFor(folder: string): postgres.Sql {
  const url = new URL(findDatabase(readEnv({ DATA_DIR: folder })))
  const host = url.searchParams.get('host') ?? ''
  return postgres({
    host,
    path: `${host}/.s.PGSQL.5432`,
    database: 'millrace',
    username: 'millrace',
    max: callers + 1,
    onnotice: () => {},
  })
}

async function insertRate(sql: postgres.Sql, connections: number): Promise<number> {
  await sql`create table if not exists bench_floor (id bigint generated always as identity primary key, body text)`
  const done = await loop(connections, 5, async () => {
    await sql`insert into bench_floor (body) values ('x')`
    return 0
  })
  await sql`drop table bench_floor`
  return done.ms.length / done.seconds
}

function round(value: number): number {
  return Number(value.toFixed(1))
}

function print(row: object): void {
  process.stdout.write(`${JSON.stringify(row)}\n`)
}
