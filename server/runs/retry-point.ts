import { and, desc, eq, gt, lt, lte, type SQL, sql } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../context'
import { exitOf, FAILURE_EXITS } from '../definition/exits'
import { graphOf } from '../definition/graph'
import { reachable } from '../definition/paths'
import type { Definition } from '../definition/schema'
import { findStepType } from '../steps/registry'
import { failedAt, ofMainPath } from './progress'

/** Where a retry of a run that has stopped continues. */
export interface RetryPoint {
  stepId: string
  /** The position of that visit: what was done before it is kept. */
  before: SQL
  /** A retry ends in the same way: the step only computes, from the same data. */
  same: boolean
  /** The run never came to that step. */
  jumps?: true
}

/**
 * Where a retry continues: at the step that failed, or where the run stopped between two steps. If the step that failed
 * only computes, such as one that ends the run as failed, then at the step whose failure led to it.
 * @returns null if no step is left
 */
export async function retryPointOf(
  ctx: ServiceContext,
  runId: string,
  definition: Definition,
): Promise<RetryPoint | null> {
  const before = failedAt(ctx, runId)
  const last = await lastWhere(ctx, runId, lte(stepRecords.seq, before))
  if (last?.status === 'failed' && !last.handled) {
    if (!onlyComputes(definition, last.stepId)) return { stepId: last.stepId, before, same: false }
    const cause = await causeOf(ctx, runId, definition, last.seq)
    if (cause) return { stepId: cause.stepId, before: sql`${cause.seq}::bigint`, same: false }
    return { stepId: last.stepId, before, same: true }
  }
  // It stopped between two steps. The walk may still be where it was before the last exit, so that exit says what follows.
  const next = last === null ? definition.initialStep : graphOf(definition).target(last.stepId, last.exit ?? 'next')
  return next === null ? null : { stepId: next, before, same: false }
}

function onlyComputes(definition: Definition, stepId: string): boolean {
  const type = graphOf(definition).step(stepId)?.type
  const mode = type === undefined ? undefined : findStepType(type)?.mode
  return mode === 'fail' || mode === 'end' || mode === 'pure'
}

/** The last visit on the main path that meets a condition. */
async function lastWhere(ctx: ServiceContext, runId: string, where: SQL) {
  const { seq, stepId, status, handled, exit } = stepRecords
  const [last] = await ctx.db
    .select({ seq, stepId, status, handled, exit })
    .from(stepRecords)
    .where(and(ofMainPath(ctx, runId), where))
    .orderBy(desc(seq))
    .limit(1)
  return last ?? null
}

/** How many steps may lie between a failure and the step it led to. */
const WAY = 50

/** The visit whose failure led to the visit at a position: none of those between is also on a path without failures. */
async function causeOf(ctx: ServiceContext, runId: string, definition: Definition, position: number) {
  const { seq, stepId, handled } = stepRecords
  const earlier = and(lt(seq, position), eq(handled, true))
  const cause = earlier && (await lastWhere(ctx, runId, earlier))
  if (!cause) return null
  const between = await ctx.db
    .selectDistinct({ stepId })
    .from(stepRecords)
    .where(and(ofMainPath(ctx, runId), gt(seq, cause.seq), lt(seq, position)))
    .limit(WAY + 1)
  if (between.length > WAY) return null
  const usual = reachable(withoutFailures(definition), cause.stepId)
  return between.some((step) => usual.has(step.stepId)) ? null : cause
}

function withoutFailures(definition: Definition): Definition {
  return { ...definition, edges: definition.edges.filter((edge) => !FAILURE_EXITS.includes(exitOf(edge))) }
}
