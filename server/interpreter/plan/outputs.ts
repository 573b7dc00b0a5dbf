import { and, eq, inArray, sql } from 'drizzle-orm'
import { send, sql as statement } from '@/db/index'
import { stepRecords } from '@/db/schema/runs'
import { storedSize } from '@/db/stored-size'
import type { ServiceContext } from '../../context'
import { branchesAround } from '../../definition/branches'
import { graphOf } from '../../definition/graph'
import type { JsonValue } from '../../definition/json'
import { MAX_NAMED_OUTPUT_BYTES, readableSize } from '../../definition/limits'
import { rootsOf } from '../../definition/roots'
import type { Arrival } from '../../definition/run'
import type { Step } from '../../definition/schema'
import type { Lookup } from '../../definition/template'
import { StepFailure } from '../../errors'
import { CLEANUP_BRANCH, MAIN_BRANCH } from '../../run-store/names'
import type { AnyStep } from '../../steps/define-step'
import { collected, fillIn, forkOf, lookupWith, notCollected, type Resolved, rootsOfResult } from '../flow/fill-in'
import type { WalkState } from '../flow/types'

/**
 * Resolves every `${…}` in a step's configuration: from the run's data or, if no field has the name, from the output of
 * the step with that id.
 * @throws UnresolvedReference, TemplateTooLarge, StepFailure
 */
export async function resolveConfig(
  ctx: ServiceContext,
  state: WalkState,
  step: Step,
  type: AnyStep,
): Promise<Resolved> {
  return fillIn(step, type, await lookupFrom(ctx, state, rootsOf(step)))
}

/** How the path of a branch ends: with the `result` that its fork collects. */
export async function resultOf(ctx: ServiceContext, state: WalkState): Promise<Arrival> {
  const origin = forkOf(state)
  try {
    return collected(origin, origin ? await lookupFrom(ctx, state, rootsOfResult(origin)) : () => undefined)
  } catch (err) {
    return notCollected(err, state)
  }
}

export async function lookupFrom(ctx: ServiceContext, state: WalkState, roots: ReadonlySet<string>): Promise<Lookup> {
  const outputs = await outputsNamed(ctx, state, roots)
  return lookupWith(state.data, { ...outputs, ...state.outputs })
}

async function outputsNamed(
  ctx: ServiceContext,
  state: WalkState,
  roots: ReadonlySet<string>,
): Promise<Record<string, JsonValue>> {
  const wanted = [...roots].filter(
    (root) =>
      root !== '_' &&
      !Object.hasOwn(state.data, root) &&
      !Object.hasOwn(state.outputs, root) &&
      graphOf(state.definition).step(root) !== undefined,
  )
  if (wanted.length === 0) return {}
  // The newest visit of each step: one index lookup, however often a loop visited it.
  const { tenantId, runId, branch } = state.ref
  // The walk's own outputs first, then those of the walks around it.
  const around = JSON.stringify([
    ...branchesAround(branch).toReversed(),
    ...(branch === CLEANUP_BRANCH ? [branch] : []),
    MAIN_BRANCH,
  ])
  const latest = ctx.db
    .select({
      stepId: stepRecords.stepId,
      output: stepRecords.outputData,
      bytes: storedSize(stepRecords.outputBytes, stepRecords.outputData).as('bytes'),
    })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, tenantId),
        eq(stepRecords.runId, runId),
        inArray(stepRecords.stepId, wanted),
        sql`(${stepRecords.branch}, ${stepRecords.stepId}, ${stepRecords.visit}) in (
          select found.branch, w.id, found.visit
          from jsonb_array_elements_text(${JSON.stringify(wanted)}::jsonb) w(id)
          cross join lateral (
            select s.branch, s.visit from jsonb_array_elements_text(${around}::jsonb) with ordinality b(branch, rank)
            cross join lateral (
              select branch, visit from step_records
              where tenant_id = ${tenantId} and run_id = ${runId} and branch = b.branch and step_id = w.id
                and status = 'completed'
              order by visit desc limit 1) s
            order by b.rank limit 1) found)`,
      ),
    )
    .as('latest')
  const total = sql<number>`(sum(${latest.bytes}) over ())::float8`
  const rows = await ctx.db
    .select({
      stepId: latest.stepId,
      total,
      output: sql<JsonValue>`case when ${total} <= ${MAX_NAMED_OUTPUT_BYTES} then ${latest.output} end`,
    })
    .from(latest)
  if ((rows[0]?.total ?? 0) > MAX_NAMED_OUTPUT_BYTES) {
    const message = `Together, the outputs that the configuration refers to are larger than ${readableSize(MAX_NAMED_OUTPUT_BYTES)}`
    throw new StepFailure('CONFIG_TOO_LARGE', message)
  }
  return Object.fromEntries(rows.map((row) => [row.stepId, row.output]))
}

/**
 * How often a walk has visited each step that lies on a loop, from its records. Call it before anything new is planned:
 * from then on the walk counts in memory, because nothing else adds to its records. A run that continues another one may
 * have copies of records of any step, because it may follow another version. One that was moved has records of its old
 * version; each move raises the epoch.
 */
export async function visitsSoFar(
  ctx: ServiceContext,
  { run, ref, definition }: WalkState,
): Promise<Record<string, number>> {
  const mayHaveOthers = (run.retryOf !== null && ref.branch === MAIN_BRANCH) || ref.epoch > 1
  const counted = mayHaveOthers ? new Set(definition.steps.map(({ id }) => id)) : graphOf(definition).looping
  if (counted.size === 0) return {}
  // One primary key lookup for each, however long the history is.
  const rows = await send<{ stepId: string; visit: number }>(
    ctx.db,
    statement`
    select l.id as "stepId", r.visit
    from jsonb_array_elements_text(${JSON.stringify([...counted])}::jsonb) l(id)
    cross join lateral (
      select visit from step_records
      where tenant_id = ${ref.tenantId} and run_id = ${ref.runId} and branch = ${ref.branch} and step_id = l.id
      order by visit desc limit 1) r`,
  )
  return Object.fromEntries(rows.map(({ stepId, visit }) => [stepId, visit]))
}
