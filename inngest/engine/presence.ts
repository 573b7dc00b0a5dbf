import { nextTime } from '@/lib/cron'
import type { Claim, EngineContext, Fragment } from './context'
import { after, leaseEnd } from './context'
import { RELEASE } from './settings'

/**
 * The boots of this process. They share its pid, so without this list a new engine in the process would consider them
 * dead.
 */
const LIVE = Symbol.for('engine.boots')

function liveBoots(): Set<string> {
  const holder = globalThis as { [LIVE]?: Set<string> }
  holder[LIVE] ??= new Set()
  return holder[LIVE]
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Registers this process, takes over the claims of dead processes on this host, and sets up the crons. Each job taken
 * over counts as lost once more.
 */
export async function registerWorker(ctx: EngineContext): Promise<void> {
  const { sql } = ctx
  liveBoots().add(ctx.bootId)
  const others = await sql<{ boot_id: string; pid: number }[]>`
    select boot_id, pid from engine.workers where host_id = ${ctx.hostId} and boot_id <> ${ctx.bootId}`
  const dead = others.filter(({ boot_id, pid }) => (pid === process.pid ? !liveBoots().has(boot_id) : !isAlive(pid)))
  const boots = JSON.stringify(dead.map(({ boot_id }) => boot_id))
  const [taken] = await sql<{ jobs: number; at: Date }[]>`
    with here as (
      insert into engine.workers (boot_id, host_id, pid, started_at, last_seen, release)
      values (${ctx.bootId}, ${ctx.hostId}, ${process.pid}, ${ctx.at()}, ${ctx.at()}, ${RELEASE})
      on conflict (boot_id) do update set last_seen = excluded.last_seen),
    dead as (
      delete from engine.workers where boot_id in (select json_array_elements_text(${boots}::text::json))),
    freed as (
      update engine.jobs set owner = null, deliveries = deliveries + 1, due_at = ${ctx.at()}
      where id in (
        select id from engine.jobs where owner in (select json_array_elements_text(${boots}::text::json))
        for update skip locked)
      returning 1)
    select (select count(*)::int from freed) as jobs, ${ctx.at()} as at`
  if (taken?.jobs) ctx.log.info({ jobs: taken.jobs, boots: dead.length }, 'took over the claims of processes that died')
  await plantCrons(ctx, taken?.at ?? ctx.now())
}

/** Forgets this boot once its engine has stopped. */
export function leave(bootId: string): void {
  liveBoots().delete(bootId)
}

async function plantCrons(ctx: EngineContext, at: Date): Promise<void> {
  const { sql } = ctx
  for (const spec of (await ctx.specs()).values()) {
    const wanted = spec.crons.map(({ source, cron }) => ({
      id: cronJobId(spec.id, source),
      tick: nextTime(cron, 'UTC', at),
    }))
    const ids = JSON.stringify(wanted.map(({ id }) => id))
    await sql`
      delete from engine.jobs where kind = 'cron' and function_id = ${spec.id}
        and id not in (select json_array_elements_text(${ids}::text::json))`
    for (const { id, tick } of wanted) {
      if (!tick) continue
      await sql`
        insert into engine.jobs (id, function_id, kind, step_id, due_at)
        values (${id}, ${spec.id}, 'cron', ${tick.toISOString()}, ${tick.toISOString()}::timestamptz)
        on conflict do nothing`
    }
  }
}

export function cronJobId(functionId: string, source: string): string {
  return `cron:${functionId}:${source}`
}

export interface HeartbeatResult {
  held: Set<string>
  jobsDue: boolean
  waitsDue: boolean
  /** Milliseconds until the next work is due. */
  nextMs: number | null
  /** No other process is running. */
  sole: boolean
  /** A process of an older release is running. */
  older: boolean
  /** How many jobs were released because this process did not know their claims. */
  released: number
}

/**
 * Renews the leases of the given claims, records a heartbeat and queries what is due, in one statement.
 * @param unsureMs how long ago a statement last failed that may have claimed other jobs: those are released
 */
export async function heartbeat(
  ctx: EngineContext,
  claims: readonly Claim[],
  unsureMs: number | null,
): Promise<HeartbeatResult> {
  const { sql } = ctx
  const ids = JSON.stringify(claims.map(({ jobId }) => jobId))
  const [row] = await sql<Found[]>`
    with here as (
      insert into engine.workers (boot_id, host_id, pid, started_at, last_seen, release)
      values (${ctx.bootId}, ${ctx.hostId}, ${process.pid}, ${ctx.at()}, ${ctx.at()}, ${RELEASE})
      on conflict (boot_id) do update set last_seen = excluded.last_seen)
    ${claims.length > 0 ? renewing(ctx, ids) : sql``}
    ${unsureMs === null ? sql`` : releasing(ctx, ids, unsureMs)}
    select ${claims.length > 0 ? sql`(select json_agg(generation) from held)` : sql`null::json`} as held,
      exists (select 1 from engine.jobs where due_at <= ${ctx.at()}) as jobs,
      exists (select 1 from engine.waits where expires_at <= ${ctx.at()}) as waits,
      (select extract(epoch from due_at - ${ctx.at()})::float8 * 1000 from engine.jobs
       where due_at > ${ctx.at()} and owner is null order by due_at limit 1) as job,
      (select extract(epoch from min(expires_at) - ${ctx.at()})::float8 * 1000 from engine.waits
       where expires_at > ${ctx.at()}) as wait,
      not exists (
        select 1 from engine.workers where boot_id <> ${ctx.bootId}
          and last_seen > ${ctx.at()} - ${ctx.leaseMs}::float8 * interval '1 millisecond') as sole,
      exists (
        select 1 from engine.workers where release < ${RELEASE}
          and last_seen > ${ctx.at()} - ${ctx.leaseMs}::float8 * interval '1 millisecond') as older,
      ${unsureMs === null ? sql`0` : sql`(select count(*)::int from released)`} as released`
  const next = [row?.job, row?.wait].filter((ms) => typeof ms === 'number')
  return {
    held: new Set(row?.held ?? []),
    jobsDue: row?.jobs ?? false,
    waitsDue: row?.waits ?? false,
    nextMs: next.length > 0 ? Math.min(...next) : null,
    sole: row?.sole ?? false,
    older: row?.older ?? false,
    released: row?.released ?? 0,
  }
}

interface Found {
  held: string[] | null
  jobs: boolean
  waits: boolean
  job: number | null
  wait: number | null
  sole: boolean
  older: boolean
  released: number
}

/** @param ids of the claims to renew, as JSON */
function renewing(ctx: EngineContext, ids: string): Fragment {
  return ctx.sql`, held as (
      update engine.jobs set due_at = ${leaseEnd(ctx)}
      where id in (
        select id from engine.jobs
        where owner = ${ctx.bootId} and id in (select json_array_elements_text(${ids}::text::json))
        order by id for update)
      returning generation::text)`
}

/** @param ids of all claims this process knows, as JSON */
function releasing(ctx: EngineContext, ids: string, unsureMs: number): Fragment {
  return ctx.sql`, released as (
      update engine.jobs set owner = null, due_at = ${ctx.at()}
      where id in (
        select id from engine.jobs
        where owner = ${ctx.bootId} and id not in (select json_array_elements_text(${ids}::text::json))
          and due_at > ${ctx.at()} and due_at <= ${after(ctx, ctx.leaseMs - unsureMs)}
        order by id for update skip locked)
      returning 1)`
}
