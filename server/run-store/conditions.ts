import { and, type Column, eq, getTableColumns, type SQLWrapper, Subquery, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import { runsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { Visit, WalkRef } from './names'
import type { RunRow } from './walk-data'

/** The condition that picks one run, if the caller may touch it: every read of a run by its id goes through it. */
export function runIs(ctx: ServiceContext, runId: string) {
  return and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId), runsInReach(ctx))
}

/**
 * The same in a statement whose text is built once, for callers who may touch every run. Takes `tenantId` and `runId`.
 */
export const GIVEN_RUN = and(eq(runs.tenantId, sql.placeholder('tenantId')), eq(runs.id, sql.placeholder('runId')))

type OfRun = Pick<RunRow, 'tenantId' | 'id'>

/** Matches the row of a run, for any caller. */
export function isRun({ tenantId, id }: OfRun) {
  return and(eq(runs.tenantId, tenantId), eq(runs.id, id))
}

export function recordsOf({ tenantId, id }: OfRun) {
  return and(eq(stepRecords.tenantId, tenantId), eq(stepRecords.runId, id))
}

export function walksOf({ tenantId, id }: OfRun) {
  return and(eq(walks.tenantId, tenantId), eq(walks.runId, id))
}

export function pausesOf({ tenantId, id }: OfRun) {
  return and(eq(pauses.tenantId, tenantId), eq(pauses.runId, id))
}

export function pauseIs(ref: Pick<WalkRef, 'tenantId' | 'runId'>, pauseId: string) {
  return and(eq(pauses.tenantId, ref.tenantId), eq(pauses.runId, ref.runId), eq(pauses.id, pauseId))
}

/** Matches the record of the visit that a pause belongs to. */
export const recordOfPause = and(
  eq(stepRecords.tenantId, pauses.tenantId),
  eq(stepRecords.runId, pauses.runId),
  eq(stepRecords.branch, pauses.branch),
  eq(stepRecords.stepId, pauses.stepId),
  eq(stepRecords.visit, pauses.visit),
)

/** A pause at which a walk waits. A step may ask a question while it is at work, and takes the answer when it can. */
export const walkWaits = (signal: SQLWrapper = pauses.signal) => sql`${signal}->'call' is null`

/** Matches a walk, regardless of its epoch and segment. */
export function walkIs({ tenantId, runId, branch }: Pick<WalkRef, 'tenantId' | 'runId' | 'branch'>) {
  return and(eq(walks.tenantId, tenantId), eq(walks.runId, runId), eq(walks.branch, branch))
}

/** Whether an open pause of a run waits for a person, so that the run is paused. */
export function asksSomebody(ref: Pick<WalkRef, 'tenantId' | 'runId'>) {
  return sql`exists (
    select from ${pauses} p
    where p.tenant_id = ${ref.tenantId} and p.run_id = ${ref.runId} and p.answered_at is null and p.signal is not null)`
}

/** Matches the record of a visit. */
export function recordIs({ state: { ref }, at }: { state: { ref: WalkRef }; at: Visit }) {
  return recordOf({ ...ref, ...at })
}

/** The same, for the visit that a given pause belongs to. */
export function recordOf({ tenantId, runId, branch, stepId, visit }: Omit<WalkRef, 'epoch' | 'segment'> & Visit) {
  return and(
    eq(stepRecords.tenantId, tenantId),
    eq(stepRecords.runId, runId),
    eq(stepRecords.branch, branch),
    eq(stepRecords.stepId, stepId),
    eq(stepRecords.visit, visit),
  )
}

/**
 * The run that a row belongs to, for `innerJoinLateral`: each is looked up by its key, in its partition alone. In a
 * plain join with tables partitioned by time, Postgres expects a lookup to cost one descent for each month, and prefers
 * to read all runs of all workspaces. For few rows, or a page of them; `offset 0` prevents a plain join.
 */
export function runOf({ tenantId, runId }: { tenantId: Column; runId: Column }) {
  const row = sql`select * from ${runs} r where r.tenant_id = ${tenantId} and r.id = ${runId} offset 0`
  return new Subquery(row, getTableColumns(runs), 'runs')
}
