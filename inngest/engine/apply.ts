import { plainError } from './call'
import type { Claim, EngineContext } from './context'
import { after, leaseEnd, rows } from './context'
import { endRun } from './finish'
import { newId } from './ids'
import type { Invocation, NewWait, Plan } from './plan'
import type { StepResult } from './protocol'
import { begin, type NewRun, newRun, starting } from './start'
import { callingAgain } from './waits'

type Move = Extract<Plan, { kind: 'move' }>

/** Writes a call's outcome in one transaction. If it returns a claim, the call continues immediately. */
export async function applyPlan(
  ctx: EngineContext,
  claim: Claim,
  plan: Plan,
  stopping: boolean,
): Promise<Claim | undefined> {
  switch (plan.kind) {
    case 'drop':
      return undefined
    case 'retry':
      await retryLater(ctx, claim, plan.steps, plan.delayMs)
      return undefined
    case 'end': {
      const { jobId, generation, runId, kind, pending, race } = claim
      const { status, output, steps } = plan
      const alone = kind === 'run' && pending === 0 && !race
      await endRun(ctx, { runId, status, output, steps, fence: { jobId, generation }, alone })
      return undefined
    }
    case 'again':
      return await callAgain(ctx, claim, plan.steps, stopping)
    case 'move':
      await move(ctx, claim, plan)
      return undefined
  }
}

async function retryLater(ctx: EngineContext, claim: Claim, steps: StepResult[], delayMs: number): Promise<void> {
  const { sql } = ctx
  await sql`
    with mine as (
      update engine.jobs set attempt = ${claim.attempt + 1}, deliveries = 0, owner = null, due_at = ${after(ctx, delayMs)}
      where id = ${claim.jobId} and generation = ${claim.generation}::bigint returning run_id)
    insert into engine.steps (run_id, id, value)
    select mine.run_id, s.id, s.value from mine, json_to_recordset(${rows(ctx, steps)}) as s(id text, value text)
    on conflict do nothing`
  ctx.scheduler.dueIn(delayMs)
}

async function callAgain(
  ctx: EngineContext,
  claim: Claim,
  steps: StepResult[],
  stopping: boolean,
): Promise<Claim | undefined> {
  const { sql } = ctx
  const [row] = await sql<{ generation: string }[]>`
    with mine as (
      update engine.jobs set attempt = 0, deliveries = 0, generation = nextval('engine.generation'),
        owner = ${stopping ? null : ctx.bootId}, due_at = ${stopping ? ctx.at() : leaseEnd(ctx)}
      where id = ${claim.jobId} and generation = ${claim.generation}::bigint returning run_id, generation),
    kept as (
      insert into engine.steps (run_id, id, value)
      select mine.run_id, s.id, s.value from mine, json_to_recordset(${rows(ctx, steps)}) as s(id text, value text)
      on conflict do nothing)
    select generation::text from mine`
  if (!row || stopping) return undefined
  const memo = new Map(claim.memo)
  for (const { id, value } of steps) if (!memo.has(id)) memo.set(id, value)
  return { ...claim, generation: row.generation, attempt: 0, deliveries: 0, memo }
}

class Stale extends Error {}

/**
 * Stores results, opens waits and jobs, and queues the next call once nothing is pending. The run's row stays locked
 * throughout, so nothing can settle one of the new waits before it exists.
 */
async function move(ctx: EngineContext, claim: Claim, plan: Move): Promise<void> {
  if (plan.invocations.length === 0 && plan.replacing.length === 0) {
    await moveOn(ctx, claim, plan, plan)
    return
  }
  const children = await childRuns(ctx, claim.runId, plan.invocations)
  const steps = [...plan.steps, ...children.missing]
  const waits = [...plan.waits, ...children.waits]
  let effects: (() => void)[] = []
  try {
    await ctx.sql.begin(async (tx) => {
      effects = []
      const inner = { ...ctx, sql: tx as unknown as EngineContext['sql'] }
      const [held] = await tx`select id from engine.runs where id = ${claim.runId} and status = 'running' for update`
      if (!held) throw new Stale()
      for (const signal of plan.replacing) {
        await tx`update engine.waits set kind = 'replaced' where kind = 'signal' and key = ${signal} and run_id <> ${claim.runId}`
      }
      for (const child of children.runs) {
        const inserted = await tx<{ run_id: string; generation: string }[]>`
          with ${starting(inner, [child.run], child.event)} select run_id, generation from queued`
        if (inserted.length === 0) {
          steps.push({ id: child.run.parentStep ?? '', value: SKIPPED })
          waits.splice(
            waits.findIndex((wait) => wait.stepId === child.run.parentStep),
            1,
          )
        }
        effects.push(() => begin(ctx, [child.run], child.event, inserted, 0))
      }
      const applied = await moveOn(inner, claim, { ...plan, steps, waits }, plan, effects)
      if (!applied) throw new Stale()
    })
  } catch (error) {
    if (error instanceof Stale) return
    throw error
  }
  for (const effect of effects) effect()
}

const SKIPPED = JSON.stringify({ error: plainError('The invoked function has already run for this idempotency key') })

/**
 * The single statement of a move; false when the claim is stale. With `effects` it runs in the caller's transaction.
 */
async function moveOn(
  ctx: EngineContext,
  claim: Claim,
  plan: Pick<Move, 'steps' | 'waits' | 'jobs'>,
  { done, race }: Pick<Move, 'done' | 'race'>,
  effects?: (() => void)[],
): Promise<boolean> {
  const { scheduler } = ctx
  const planned = plan.jobs.filter((job) => job.kind === 'step')
  // Steps of a function with a concurrency limit are queued. Others start here immediately if there is room.
  const slots = claim.lane === null && planned.length > 0 && !effects ? scheduler.reserve(planned.length) : 0
  const claimed = new Set(planned.slice(0, slots))
  const jobs = plan.jobs.map((job) => ({ ...job, id: `${claim.runId}.${job.stepId}`, claimed: claimed.has(job) }))
  let row: Moved | undefined
  try {
    ;[row] = await writeMove(ctx, claim, { ...plan, jobs, done, race })
  } catch (error) {
    scheduler.release(slots)
    throw error
  }
  const apply = () => follow(ctx, claim, plan.steps, row, slots)
  if (effects) effects.push(apply)
  else apply()
  return row?.mine === 1
}

interface Written extends Pick<Move, 'steps' | 'waits' | 'done' | 'race'> {
  jobs: readonly object[]
}

function writeMove(ctx: EngineContext, claim: Claim, { steps, waits, jobs, done, race }: Written) {
  const { sql } = ctx
  const due = sql`coalesce(n.at::timestamptz, ${ctx.at()} + n."inMs" * interval '1 millisecond')`
  return sql<Moved[]>`
      with held as materialized (
        select id, function_id from engine.runs where id = ${claim.runId} and status = 'running' for update),
      mine as (
        delete from engine.jobs j using held h
        where j.id = ${claim.jobId} and j.generation = ${claim.generation}::bigint and j.run_id = h.id
        returning h.id, h.function_id),
      kept as (
        insert into engine.steps (run_id, id, value)
        select mine.id, n.id, n.value from mine, json_to_recordset(${rows(ctx, steps)}) as n(id text, value text)
        on conflict do nothing),
      armed as (
        insert into engine.waits (run_id, step_id, kind, key, token, condition, expires_at)
        select mine.id, n."stepId", n.kind, n.key, n.token, n.condition, ${due}
        from mine, json_to_recordset(${rows(ctx, waits)}) as n(
          "stepId" text, kind text, key text, token text, condition text, "inMs" float8, at text)
        on conflict (run_id, step_id) do nothing returning step_id, expires_at),
      queued as (
        insert into engine.jobs (id, run_id, function_id, kind, step_id, lane, due_at, owner, generation)
        select n.id, mine.id, mine.function_id, n.kind, n."stepId",
          case when n.kind = 'step' then ${claim.lane}::text end,
          case when n.claimed then ${leaseEnd(ctx)} else ${due} end,
          case when n.claimed then ${ctx.bootId}::text end,
          case when n.claimed then nextval('engine.generation') else 0 end
        from mine, json_to_recordset(${rows(ctx, jobs)}) as n(
          id text, kind text, "stepId" text, claimed boolean, "inMs" float8, at text)
        on conflict (id) do nothing returning id, step_id, owner, generation, due_at),
      moved as (
        update engine.runs r set race = r.race or ${race}::boolean,
          pending = r.pending - ${done}::int + (select count(*)::int from armed) + (select count(*)::int from queued)
        from mine where r.id = mine.id returning r.id, r.function_id, r.lane, r.pending, r.race),
      woken as (${callingAgain(ctx, sql`moved where pending = 0 or (race and ${done}::int > 0)`)})
      select (select count(*)::int from mine) as mine, (select count(*)::int from woken) as woken,
        (select pending from moved) as pending, (select race from moved) as race,
        (select json_agg(json_build_object('id', id, 'step', step_id, 'generation', generation::text))
         from queued where owner is not null) as claimed,
        (select count(*)::int from queued where owner is null and due_at <= ${ctx.at()}) as waiting,
        (select extract(epoch from min(t) - ${ctx.at()})::float8 * 1000
         from (select expires_at as t from armed union all select due_at from queued where owner is null) x) as due`
}

/**
 * Starts the steps claimed with a move, in some of the slots reserved for them, and wakes the scheduler for the others.
 */
function follow(
  { scheduler }: EngineContext,
  claim: Claim,
  steps: readonly StepResult[],
  row: Moved | undefined,
  slots: number,
): void {
  const taken = row?.claimed ?? []
  scheduler.release(slots - taken.length)
  const memo = new Map(claim.memo)
  for (const { id, value } of steps) memo.set(id, value)
  scheduler.take(
    taken.map(({ id, step, generation }) => ({
      ...claim,
      jobId: id,
      kind: 'step',
      stepId: step,
      generation,
      attempt: 0,
      deliveries: 0,
      memo,
      pending: row?.pending ?? 1,
      race: row?.race ?? false,
    })),
  )
  if (row && (row.woken > 0 || row.waiting > 0)) scheduler.wake()
  if (row?.due !== null && row?.due !== undefined) scheduler.dueIn(row.due)
}

interface Moved {
  mine: number
  woken: number
  waiting: number
  pending: number | null
  race: boolean | null
  claimed: { id: string; step: string; generation: string }[] | null
  due: number | null
}

interface Children {
  runs: { run: NewRun; event: string }[]
  waits: NewWait[]
  missing: StepResult[]
}

async function childRuns(ctx: EngineContext, parent: string, invocations: readonly Invocation[]): Promise<Children> {
  const specs = await ctx.specs()
  const children: Children = { runs: [], waits: [], missing: [] }
  const at = ctx.now()
  for (const { stepId, functionId, payload, ...due } of invocations) {
    const spec = specs.get(functionId)
    if (!spec) {
      const error = plainError(`There is no function ${functionId} to invoke`)
      children.missing.push({ id: stepId, value: JSON.stringify({ error }) })
      continue
    }
    const event = {
      ...payload,
      id: newId(at.getTime()),
      name: 'inngest/function.invoked',
      data: (payload.data as Record<string, unknown> | null | undefined) ?? {},
      ts: at.getTime(),
    }
    const run = { ...newRun(spec, event, at), parent, parentStep: stepId }
    children.runs.push({ run, event: JSON.stringify(event) })
    children.waits.push({ kind: 'invoke', stepId, key: run.id, token: '', condition: null, ...due })
  }
  return children
}
