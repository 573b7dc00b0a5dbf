import type { Claim, EngineContext, Fragment } from './context'
import { leaseEnd } from './context'

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
  /** The job changed hands between the statement's snapshot and its lock, so that the rest of the row may be old. */
  overtaken: boolean
}

/**
 * Claims what is due, oldest first, and reads with it all that a call needs. Runs of functions with a limit are claimed
 * one function at a time under a lock of the database, because a limit counts the claims of every process.
 */
export async function claimDue(ctx: EngineContext, places: number): Promise<Claim[]> {
  const specs = await ctx.specs()
  const names = JSON.stringify([...specs.keys()])
  const { sql } = ctx
  const free = await taking(
    ctx,
    sql`
      select id, xmin as version from engine.jobs
      where due_at <= ${ctx.at()} and lane is null
        and function_id in (select json_array_elements_text(${names}::text::json))
      order by due_at limit ${places} for update skip locked`,
  )
  const claims = await toClaims(ctx, free)
  for (const spec of specs.values()) {
    const left = places - claims.length
    if (spec.concurrency && left > 0) {
      const limited = await claimLimited(ctx, spec.id, spec.concurrency.limit, left)
      claims.push(...limited)
    }
  }
  return claims
}

async function claimLimited(ctx: EngineContext, functionId: string, limit: number, places: number): Promise<Claim[]> {
  const { sql } = ctx
  const [due] = await sql`
    select 1 from engine.jobs where function_id = ${functionId} and lane is not null and due_at <= ${ctx.at()} limit 1`
  if (!due) return []
  const rows = await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`engine:${functionId}`}, 0))`
    const inner = { ...ctx, sql: tx as unknown as EngineContext['sql'] }
    return await taking(
      inner,
      tx`
        select id, xmin as version from engine.jobs where due_at <= ${ctx.at()} and id in (
          select id from (
            select j.id, j.due_at, row_number() over (partition by j.lane order by j.due_at, j.id)
              + (select count(*) from engine.jobs b where b.function_id = ${functionId} and b.lane = j.lane
                 and b.owner is not null and b.due_at > ${ctx.at()}) as place
            from engine.jobs j
            where j.function_id = ${functionId} and j.lane is not null and j.due_at <= ${ctx.at()}) ranked
          where place <= ${limit} order by due_at limit ${places})
        for update skip locked` as Fragment,
    )
  })
  return await toClaims(ctx, rows)
}

/** The claims, with what a newer snapshot says of those that were overtaken. */
async function toClaims(ctx: EngineContext, rows: readonly ClaimRow[]): Promise<Claim[]> {
  const claims: Claim[] = []
  for (const row of rows) {
    if (row.overtaken && row.run_id !== null) {
      const [fresh] = await ctx.sql<Pick<ClaimRow, 'pending' | 'race' | 'started' | 'running' | 'memo'>[]>`
        select r.pending, r.race, r.started_at is not null as started, r.status = 'running' as running,
          (select json_agg(json_build_array(s.id, s.value) order by s.position) from engine.steps s
           where s.run_id = r.id) as memo
        from engine.runs r where r.id = ${row.run_id}`
      if (fresh) Object.assign(row, fresh)
    }
    claims.push(toClaim(row))
  }
  return claims
}

function taking(ctx: EngineContext, due: Fragment) {
  return ctx.sql<ClaimRow[]>`
    with due as (${due}),
    taken as (
      update engine.jobs j
      set owner = ${ctx.bootId}, generation = nextval('engine.generation'), deliveries = j.deliveries + 1,
        due_at = ${leaseEnd(ctx)}
      from due where j.id = due.id returning j.*, due.version)
    select t.id, t.run_id, t.function_id, t.kind, t.step_id, t.attempt, t.generation::text, t.deliveries, t.lane,
      r.event, r.pending, r.race, r.started_at is not null as started, coalesce(r.status = 'running', false) as running,
      (select json_agg(json_build_array(s.id, s.value) order by s.position) from engine.steps s
       where s.run_id = t.run_id and t.kind in ('run', 'step')) as memo,
      t.version <> (select o.xmin from engine.jobs o where o.id = t.id) as overtaken
    from taken t left join engine.runs r on r.id = t.run_id order by t.due_at`
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
  }
}

/** Gives claims back so that any process goes on with them at once; a release is no failed delivery. */
export async function releaseClaims(ctx: EngineContext): Promise<void> {
  await ctx.sql`
    with released as (
      update engine.jobs set owner = null, due_at = ${ctx.at()}, deliveries = greatest(deliveries - 1, 0)
      where owner = ${ctx.bootId}),
    left_work as (delete from engine.workers where boot_id = ${ctx.bootId})
    select pg_notify('engine', '')`
}

/** Removes a job for which there is nothing to do. */
export async function dropJob(ctx: EngineContext, claim: Claim): Promise<void> {
  await ctx.sql`delete from engine.jobs where id = ${claim.jobId} and generation = ${claim.generation}::bigint`
}

/** The first claim of a run whose time-outs count from its start. */
export async function markStarted(
  ctx: EngineContext,
  runId: string,
  finishWithinMs: number | undefined,
): Promise<void> {
  await ctx.sql`
    with begun as (
      update engine.runs set started_at = ${ctx.at()} where id = ${runId} and started_at is null and status = 'running'
      returning id)
    insert into engine.waits (run_id, step_id, kind, key, expires_at)
    select id, 'finish', 'finish', '', ${ctx.at()} + ${finishWithinMs ?? 0}::float8 * interval '1 millisecond'
    from begun where ${finishWithinMs !== undefined}::boolean on conflict do nothing`
  if (finishWithinMs !== undefined) ctx.scheduler.dueIn(finishWithinMs)
}
