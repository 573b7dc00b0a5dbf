import type { Claim, EngineContext, Fragment } from './context'
import { leaseEnd, rows } from './context'
import { SUSPECT_AFTER } from './settings'

/** Which kinds of due jobs are free to claim. */
export interface Due {
  /** Whether jobs of functions without a limit are due. */
  free: boolean
  /** Functions with a limit that have due jobs. */
  limited: string[]
  /** Whether jobs are due that may have killed their process. */
  suspects: boolean
}

/** The room for new claims. */
export interface Room {
  slots: number
  /** Free slots that functions with a concurrency key may share. */
  shared: number
  /** Claims only suspects, or everything else. */
  suspects: boolean
  /** When each lane last had its turn, as a rising number. */
  served: readonly { lane: string; at: number }[]
  /** Slots per lane reserved for jobs which may not be committed yet, so that only this process can count them. */
  reserved: readonly { lane: string; n: number }[]
}

const NO_LIMIT = 2 ** 31 - 1

/**
 * Checks in one statement what could be claimed, so that each claim statement runs only when it will find something.
 */
export async function lookAround(ctx: EngineContext): Promise<Due> {
  const names = [...(await ctx.specs()).keys()]
  const due = ctx.sql`due_at <= ${ctx.at()}`
  const [row] = await ctx.sql<{ free: boolean; suspects: boolean; limited: string[] | null }[]>`
    select exists (select 1 from engine.jobs where ${due} and lane is null and deliveries < ${SUSPECT_AFTER}) as free,
      exists (select 1 from engine.jobs where ${due} and deliveries > 0 and deliveries >= ${SUSPECT_AFTER}) as suspects,
      (select json_agg(name) from json_array_elements_text(${JSON.stringify(names)}::text::json) name where (
        select true from engine.jobs where ${due} and lane is not null
          and (function_id, lane) >= (name, '') and function_id <= name
        order by function_id, lane, due_at limit 1)) as limited`
  return { free: row?.free ?? false, suspects: row?.suspects ?? false, limited: row?.limited ?? [] }
}

/** Claims due jobs with everything their calls need. Jobs of functions without a limit come first, oldest first. */
export async function claimDue(ctx: EngineContext, due: Due, room: Room): Promise<Claim[]> {
  const specs = await ctx.specs()
  const claims = due.free || room.suspects ? await claimFree(ctx, [...specs.keys()], room) : []
  for (const functionId of due.limited) {
    const slots = room.slots - claims.length
    if (slots <= 0) break
    // Jobs stay in their lane when their function loses its limit.
    const limit = specs.get(functionId)?.concurrency
    const shared = limit?.key ? room.shared : NO_LIMIT
    const left = { ...room, slots, shared: Math.max(0, shared - claims.length) }
    claims.push(...(await claimInTurns(ctx, functionId, limit?.limit ?? NO_LIMIT, left)))
  }
  return claims
}

async function claimFree(ctx: EngineContext, names: readonly string[], room: Room): Promise<Claim[]> {
  const taken = await taking(
    ctx,
    ctx.sql`
      select id, xmin as version from engine.jobs
      where due_at <= ${ctx.at()} and lane is null and ${suspicion(ctx, room)}
        and function_id in (select json_array_elements_text(${JSON.stringify(names)}::text::json))
      order by due_at limit ${room.slots} for update skip locked`,
  )
  return await toClaims(ctx, taken)
}

/**
 * Claims jobs of a function with a limit. The limit covers the claims of all processes, so this holds a lock for the
 * function. Lanes take turns: first the lane with the fewest calls in this process, then the one served longest ago. A
 * lane never takes more slots than it leaves free: one busy lane gets half of them, two get a third each, and a
 * newcomer finds room. The row comparison and the array for `any` leave the planner only `jobs_lane_due_idx`: any other
 * plan reads the whole queue of a busy lane.
 */
async function claimInTurns(ctx: EngineContext, functionId: string, limit: number, room: Room): Promise<Claim[]> {
  const claimed = await ctx.sql.begin(async (tx) => {
    const inner = { ...ctx, sql: tx as unknown as EngineContext['sql'] }
    const at = inner.at()
    const queue = tx`
      with recursive lanes as (
        (select lane from engine.jobs where function_id = ${functionId} and lane is not null order by lane limit 1)
        union all
        select (select j.lane from engine.jobs j where j.function_id = ${functionId} and j.lane > l.lane
                order by j.lane limit 1)
        from lanes l where l.lane is not null),
      at_work as (
        select lane, count(*) filter (where due_at > ${at}) as everywhere,
          count(*) filter (where owner = ${ctx.bootId}) as here
        from engine.jobs where function_id = ${functionId} and lane is not null and owner is not null group by lane),
      apiece as (
        select least(${room.slots}::bigint, 1 + 2 * ${room.slots}::bigint / greatest(count(*), 1)) as share from lanes),
      queued as (
        select first.id, first.due_at, coalesce(w.here, 0) + first.n as slot, coalesce(s.at, 0) as served
        from lanes l cross join apiece a left join at_work w on w.lane = l.lane
        left join json_to_recordset(${rows(inner, room.served)}) as s(lane text, at int) on s.lane = l.lane
        left join json_to_recordset(${rows(inner, room.reserved)}) as r(lane text, n int) on r.lane = l.lane
        cross join lateral (
          select j.id, j.due_at, row_number() over (order by j.due_at, j.id) as n from (
            select id, due_at from engine.jobs
            where lane is not null and ${suspicion(inner, room)}
              and (function_id, lane, due_at) >= (${functionId}, l.lane, '-infinity'::timestamptz)
              and (function_id, lane, due_at) <= (${functionId}, l.lane, ${at})
            order by function_id, lane, due_at
            limit least(a.share, greatest(${limit}::bigint - coalesce(w.everywhere, 0) - coalesce(r.n, 0), 0))) j) first
        where l.lane is not null),
      turns as (select id, slot, row_number() over (order by slot, served, due_at, id) as turn from queued)
      select id, xmin as version from engine.jobs
      where due_at <= ${at} and id = any(array(
        select id from turns where turn <= ${room.slots}::bigint and slot <= ${room.shared}::bigint - turn + 1))
      for update skip locked` as Fragment
    // Sent together. The second statement takes its snapshot only when the first one has the lock.
    const [, taken] = await Promise.all([
      tx`select pg_advisory_xact_lock(hashtextextended(${`engine:${functionId}`}, 0))`,
      taking(inner, queue),
    ])
    return taken
  })
  return await toClaims(ctx, claimed)
}

function suspicion(ctx: EngineContext, { suspects }: Room): Fragment {
  // The first condition matches the index's predicate; the second alone would not use the index.
  return suspects ? ctx.sql`deliveries > 0 and deliveries >= ${SUSPECT_AFTER}` : ctx.sql`deliveries < ${SUSPECT_AFTER}`
}

interface ClaimRow {
  id: string
  run_id: string | null
  function_id: string
  kind: Claim['kind']
  step_id: string | null
  attempt: number
  generation: string
  deliveries: number
  lane: string | null
  event: string | null
  pending: number | null
  race: boolean | null
  started: boolean
  running: boolean
  memo: [string, string][] | null
  bare: boolean
  /** The job changed hands between the statement's snapshot and its lock, so the rest of the row may be stale. */
  overtaken: boolean
}

/** Claims the jobs that `due` selects. A job that still has an owner counts as lost by it. */
function taking(ctx: EngineContext, due: Fragment) {
  return ctx.sql<ClaimRow[]>`
    with due as (${due}),
    taken as (
      update engine.jobs j
      set owner = ${ctx.bootId}, generation = nextval('engine.generation'), due_at = ${leaseEnd(ctx)},
        deliveries = j.deliveries + case when j.owner <> ${ctx.bootId} then 1 else 0 end
      from due where j.id = due.id returning j.*, due.version)
    select t.id, t.run_id, t.function_id, t.kind, t.step_id, t.attempt, t.generation::text, t.deliveries, t.lane,
      coalesce(t.event, r.event) as event, t.event is not null as bare, r.pending, r.race, r.started_at is not null as started, coalesce(r.status = 'running', t.event is not null) as running,
      (select json_agg(json_build_array(s.id, s.value) order by s.position) from engine.steps s
       where s.run_id = t.run_id and t.kind in ('run', 'step')) as memo,
      t.version <> (select o.xmin from engine.jobs o where o.id = t.id) as overtaken
    from taken t left join engine.runs r on r.id = t.run_id order by t.due_at`
}

/** Builds the claims. Claims that were overtaken read their run again in a newer snapshot. */
async function toClaims(ctx: EngineContext, taken: readonly ClaimRow[]): Promise<Claim[]> {
  const claims: Claim[] = []
  for (const row of taken) {
    if (row.overtaken && row.run_id !== null) {
      const [fresh] = await ctx.sql<Pick<ClaimRow, 'event' | 'pending' | 'race' | 'started' | 'running' | 'memo'>[]>`
        select r.event, r.pending, r.race, r.started_at is not null as started, r.status = 'running' as running,
          (select json_agg(json_build_array(s.id, s.value) order by s.position) from engine.steps s
           where s.run_id = r.id) as memo
        from engine.runs r where r.id = ${row.run_id}`
      if (fresh) Object.assign(row, fresh)
    }
    claims.push(toClaim(row))
  }
  return claims
}

function toClaim(row: ClaimRow): Claim {
  return {
    jobId: row.id,
    generation: row.generation,
    runId: row.run_id ?? '',
    functionId: row.function_id,
    kind: row.kind,
    stepId: row.step_id,
    attempt: row.attempt,
    deliveries: row.deliveries,
    lane: row.lane,
    event: row.event ?? 'null',
    memo: new Map(row.memo ?? []),
    pending: row.pending ?? 0,
    race: row.race ?? false,
    started: row.started,
    running: row.running,
    withoutRow: row.bare,
  }
}
