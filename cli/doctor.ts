import { sql } from 'drizzle-orm'
import type { Db, Sql } from '@/db/index'
import { checkPreparing } from '@/db/pooler'
import { env } from '@/server/env'
import { inngestProblem, readInngestState } from '@/server/host/engine-state'
import { HEARTBEAT_FRESH_MS } from '@/server/host/health'

interface Check {
  name: string
  ok: boolean
  saw: string
  fix?: string
}

/** Makes an operator's first checks, and offers a fix for each fault. */
export async function diagnose(db: Db, sql: Sql): Promise<{ healthy: boolean; checks: Check[] }> {
  const engines = env().engine === 'inngest' ? [await inngest(sql), await eventKey()] : [await engine(db)]
  const checks = [await database(db), await clock(db), ...engines, await pooler(), await outbox(db), await tenants(db)]
  return { healthy: checks.every((check) => check.ok), checks }
}

async function database(db: Db): Promise<Check> {
  const started = performance.now()
  const [row] = await db.execute<{ version: string }>(sql`select current_setting('server_version') as version`)
  const ms = Math.round(performance.now() - started)
  return { name: 'database', ok: true, saw: `Postgres ${row?.version} answered in ${ms} ms` }
}

async function clock(db: Db): Promise<Check> {
  const [row] = await db.execute<{ skew: number }>(
    sql`select abs(extract(epoch from clock_timestamp()) - ${Date.now() / 1000}::float8)::float8 as skew`,
  )
  const skew = Number(row?.skew ?? 0)
  const ok = skew < 30
  return {
    name: 'clock',
    ok,
    saw: `${skew.toFixed(1)} s off the database's clock`,
    ...(ok
      ? {}
      : { fix: 'Set this machine’s clock or the database’s, whichever is wrong. The service goes by the database’s.' }),
  }
}

async function engine(db: Db): Promise<Check> {
  const [row] = await db.execute<{ age: number | null }>(
    sql`select extract(epoch from clock_timestamp() - max(last_seen))::float8 as age from engine.workers`,
  )
  const age = row?.age === null || row?.age === undefined ? null : Number(row.age)
  const ok = age !== null && age * 1_000 < HEARTBEAT_FRESH_MS
  return {
    name: 'engine',
    ok,
    saw: age === null ? 'never seen' : `last seen ${age.toFixed(1)} s ago`,
    ...(ok
      ? {}
      : {
          fix: 'Start the service with npm start, or a worker with npm run worker if ENGINE=off.',
        }),
  }
}

async function inngest(db: Sql): Promise<Check> {
  const state = await readInngestState(db)
  const problem = inngestProblem(state, env().deployment !== 'preview')
  const called = state.calledS === null ? 'never called' : `last called ${state.calledS.toFixed(0)} s ago`
  return {
    name: 'engine',
    ok: problem === null,
    saw: `Inngest: ${state.registration?.error === null ? `registered at ${state.registration.url}` : 'not registered'}, ${called}`,
    ...(problem === null ? {} : { fix: `${problem} To register: npm run -s admin -- inngest sync` }),
  }
}

/** Sends an event that triggers nothing. */
async function eventKey(): Promise<Check> {
  // Loaded only on use, because it loads the SDK.
  const client = (await import('@/inngest/client')).inngest
  const failure = await client.send({ name: 'millrace/doctor.asked', data: {} }).then(
    () => null,
    (err: unknown) => (err instanceof Error ? err.message : String(err)),
  )
  return {
    name: 'event key',
    ok: failure === null,
    saw: failure ?? 'Inngest took an event',
    ...(failure === null ? {} : { fix: 'Check INNGEST_EVENT_KEY, and INNGEST_BASE_URL for a server of your own.' }),
  }
}

async function pooler(): Promise<Check> {
  const { DATABASE_URL: url } = env()
  const kept = url === undefined || (await checkPreparing(url))
  return {
    name: 'pooler',
    ok: kept,
    saw: kept ? 'prepared statements are kept' : 'prepared statements get lost, so none are used',
    ...(kept ? {} : { fix: 'Use PgBouncer 1.21 or newer with max_prepared_statements, or a direct DATABASE_URL.' }),
  }
}

async function outbox(db: Db): Promise<Check> {
  const [row] = await db.execute<{ waiting: number; oldest: number | null }>(
    sql`select count(*)::int as waiting, extract(epoch from clock_timestamp() - min(created_at))::float8 as oldest from outbox`,
  )
  const waiting = row?.waiting ?? 0
  const oldest = Number(row?.oldest ?? 0)
  const ok = oldest < 60
  return {
    name: 'outbox',
    ok,
    saw: waiting === 0 ? 'empty' : `${waiting} waiting, the oldest for ${oldest.toFixed(0)} s`,
    ...(ok ? {} : { fix: 'The engine is not taking events. See the service’s log.' }),
  }
}

async function tenants(db: Db): Promise<Check> {
  const [row] = await db.execute<{ tenants: number }>(sql`select count(*)::int as tenants from tenants`)
  const ok = Number(row?.tenants) > 0
  return {
    name: 'tenants',
    ok,
    saw: `${row?.tenants}`,
    ...(ok ? {} : { fix: 'Start the service once, or run: npm run admin -- tenant create --name NAME' }),
  }
}
