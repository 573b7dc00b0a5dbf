import { and, asc, eq, sql } from 'drizzle-orm'
import { wholeData } from '@/db/run-data'
import { scopes, walks } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { originOf, scopeIdOf } from '../../definition/branches'
import { graphOf } from '../../definition/graph'
import { inStoredOrder, type JsonObject, toStorableJson } from '../../definition/json'
import { MAX_DATA_BYTES, MAX_OUTPUT_BYTES, readableSize } from '../../definition/limits'
import { ImpossibleState, StepFailure } from '../../errors'
import type { StepRecordRow } from '../../run-store/walk-data'
import type { Joined } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import { afterCatch, catching, failurePath, shownExit } from '../flow/exits'
import { classify } from '../flow/failure'
import { type ForkFailure, failureOf } from '../flow/scope'
import { outputColumns, storableOutput, withDelta } from '../flow/sizes'
import type { WalkState } from '../flow/types'
import { planEnd, planFrom } from '../plan/plan'
import { configOf } from '../plan/state'
import type { DoneStep, Drive, Plan } from '../plan/types'

const OWN_DATA = sql.raw(`(${wholeData('walks', { tenant: 'walks.tenant_id', id: 'walks.run_id', input: null })})`)

/** Plans how a walk continues from a fork that its branches have completed. Null if they have not yet. */
export async function planJoined(
  ctx: ServiceContext,
  state: WalkState,
  record: StepRecordRow,
  drive: Drive,
): Promise<{ step: DoneStep; plan: Plan } | null> {
  const { tenantId, runId, branch } = state.ref
  const id = scopeIdOf(branch, record)
  const [scope] = await ctx.db
    .select()
    .from(scopes)
    .where(and(eq(scopes.tenantId, tenantId), eq(scopes.runId, runId), eq(scopes.id, id)))
  if (!scope || scope.state === 'open') return null
  const at = { stepId: record.stepId, visit: record.visit }
  const endedAt = ctx.now()
  const failure = failureOf(scope, record.stepId)
  if (failure) return planFailed(ctx, state, record, failure, drive)
  const type = findStepType(record.stepType)
  if (type?.mode !== 'fork') throw new ImpossibleState('join-of-no-fork', `${record.stepType} runs no branches`)
  try {
    const branches = await readBranches(ctx, state, id, type.merges === true)
    const joined = type.join({ config: configOf(record), stepId: record.stepId, branches })
    const output = storableOutput(joined.output) as JsonObject
    const delta = inStoredOrder(toStorableJson(joined.delta))
    const grown = withDelta(state, delta, state.ref, at)
    const after = { ...state, ...grown, outputs: { ...state.outputs, [record.stepId]: output } }
    const plan = await planFrom(ctx, after, graphOf(state.definition).target(record.stepId, 'done'), drive)
    return { step: { at, endedAt, delta, exit: shownExit(type, 'done'), ...outputColumns(output) }, plan }
  } catch (err) {
    if (!(err instanceof StepFailure)) throw err
    const { code, message } = classify(err)
    return planFailed(ctx, state, record, { code, message, stepId: record.stepId, outcome: 'failed' }, drive)
  }
}

/** A fork fails like any step, but the error names the step of the branch that failed. */
async function planFailed(
  ctx: ServiceContext,
  state: WalkState,
  record: StepRecordRow,
  failure: ForkFailure,
  drive: Drive,
): Promise<{ step: DoneStep; plan: Plan }> {
  const at = { stepId: record.stepId, visit: record.visit }
  const caught = failure.final ? failurePath(state, at, failure) : catching(state, at, failure)
  const { code, message, stepId, outcome } = failure
  const step = {
    at,
    endedAt: ctx.now(),
    delta: {},
    failure: { code, message, handled: caught?.columns.handled === true },
    ...outputColumns({}),
  }
  if (!caught) {
    const error = { code, message, stepId }
    return { step, plan: planEnd(state, { status: 'failed', outcome, written: state, error, stepId }) }
  }
  const { target, columns } = caught
  const plan = await planFrom(ctx, afterCatch(state, caught), target, drive)
  return { step: { ...step, delta: columns.delta, exit: columns.exit }, plan }
}

/**
 * The branches of a fork in order; if their data is merged, with the fields that the completed ones wrote.
 * @throws StepFailure OUTPUT_TOO_LARGE, DATA_TOO_LARGE
 */
async function readBranches(ctx: ServiceContext, { ref }: WalkState, id: string, merges: boolean): Promise<Joined[]> {
  const of = and(eq(walks.tenantId, ref.tenantId), eq(walks.runId, ref.runId), eq(walks.scope, id))
  const written = sql<JsonObject | null>`case when ${walks.arrival} ? 'done' and ${merges} then ${OWN_DATA} end`
  const [size] = await ctx.db
    .select({
      results: sql<number>`sum(octet_length(${walks.arrival}::text))::float8`,
      data: sql<number>`sum(octet_length((${written})::text))::float8`,
    })
    .from(walks)
    .where(of)
  const tooLarge = (code: string, what: string, most: number) =>
    new StepFailure(code, `Together, ${what} larger than ${readableSize(most)}`)
  if ((size?.results ?? 0) > MAX_OUTPUT_BYTES) throw tooLarge('OUTPUT_TOO_LARGE', 'the results are', MAX_OUTPUT_BYTES)
  // Measured as text, which has a few more spaces than the sizes counted elsewhere.
  if ((size?.data ?? 0) > 2 * MAX_DATA_BYTES)
    throw tooLarge('DATA_TOO_LARGE', 'the fields that the branches wrote are', MAX_DATA_BYTES)
  const rows = await ctx.db
    .select({ branch: walks.branch, arrival: walks.arrival, data: written })
    .from(walks)
    .where(of)
    .orderBy(asc(walks.position))
  return rows.map(({ branch, arrival, data }) => {
    const key = originOf(branch)?.key ?? ''
    const base = { key, result: null, error: null, data: data ?? {} }
    if (arrival === null || 'ends' in arrival) return { ...base, state: 'stopped' }
    if ('failed' in arrival) return { ...base, state: 'failed', error: arrival.failed }
    return { ...base, state: 'done', result: arrival.done }
  })
}
