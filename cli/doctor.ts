import { sql } from 'drizzle-orm'
import type { Db } from '@/db/index'

interface Check {
  name: string
  ok: boolean
  saw: string
  fix?: string
}

/** What an operator would look at first, with the fix beside each thing that is wrong. */
export async function diagnose(db: Db): Promise<{ healthy: boolean; checks: Check[] }> {
  const checks = [await database(db), await clock(db), await engine(db), await outbox(db), await tenants(db)]
  return { healthy: checks.every((check) => check.ok), checks }
}

async function database(db: Db): Promise<Check> {
  const started = performance.now()
  const [row] = await db.execute<{ version: string }>(sql`select current_setting('server_version') as version`)
  const ms = Math.round(performance.now() - started)
  return { name: 'database', ok: true, saw: `Postgres ${row?.version} answers in ${ms} ms` }
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
    saw: `${skew.toFixed(1)} s from the database's`,
    ...(ok ? {} : { fix: 'Set this machine’s clock; signed tokens fail with such a difference.' }),
  }
}

async function engine(db: Db): Promise<Check> {
  const [row] = await db.execute<{ age: number | null }>(
    sql`select extract(epoch from clock_timestamp() - max(last_seen))::float8 as age from engine.workers`,
  )
  const age = row?.age === null || row?.age === undefined ? null : Number(row.age)
  const ok = age !== null && age < 20
  return {
    name: 'engine',
    ok,
    saw: age === null ? 'no sign of life yet' : `last seen ${age.toFixed(1)} s ago`,
    ...(ok ? {} : { fix: 'Start the service (npm start), or, with Inngest, look at its dashboard.' }),
  }
}

async function outbox(db: Db): Promise<Check> {
  const [row] = await db.execute<{ waiting: number; oldest: number | null }>(
    sql`select count(*)::int as waiting, extract(epoch from clock_timestamp() - min(created_at))::float8 as oldest from outbox`,
  )
  const oldest = Number(row?.oldest ?? 0)
  const ok = oldest < 60
  return {
    name: 'outbox',
    ok,
    saw: `${row?.waiting ?? 0} events wait, the oldest for ${oldest.toFixed(0)} s`,
    ...(ok ? {} : { fix: 'The engine does not take events: see the service’s log.' }),
  }
}

async function tenants(db: Db): Promise<Check> {
  const [row] = await db.execute<{ tenants: number }>(sql`select count(*)::int as tenants from tenants`)
  const ok = Number(row?.tenants) > 0
  return {
    name: 'tenants',
    ok,
    saw: `${row?.tenants}`,
    ...(ok ? {} : { fix: 'Start the service once, or run: admin tenant create.' }),
  }
}
