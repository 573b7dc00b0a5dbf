import { and, eq, isNull } from 'drizzle-orm'
import { pauses, runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { Definition } from '../../definition/schema'
import { isSame, join, type ValueType } from '../../definition/types/type'
import { AppError } from '../../errors'
import { inSlices } from '../../give-way'
import type { OpenRun, OpenWalk } from '../../interpreter/index'
import { definitionOf, pinnedDefinition } from '../../run-store/definition'
import type { Claim } from '../../workflows/check/fits'
import { flowing } from '../../workflows/check/flow'
import { knownOutputs, pinnedOutputs } from '../../workflows/check/known-outputs'
import { resultTypeOf } from '../../workflows/check/result-type'
import { claimsOf } from '../../workflows/claims'
import { findVersionToRun } from '../../workflows/find-version-to-run'

/** A published version to which runs of its workflow may be moved. */
export interface Destination {
  workflowId: string
  version: number
  definition: Definition
  /** What it claims where a run would stand at a step. */
  claimsAt(ctx: ServiceContext, stepId: string): Promise<readonly Claim[]>
  /** The type that it claims for what a step gives; null if it is not known. */
  givenBy(stepId: string): ValueType | null
}

/** @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED; INVALID_INPUT if the version was never published */
export async function destinationOf(
  ctx: ServiceContext,
  workflowId: string,
  to: number | 'published',
): Promise<Destination> {
  const { version, wasPublished, definition } = await findVersionToRun(ctx, workflowId, String(to))
  if (!wasPublished) {
    const message = 'must be a published version'
    throw new AppError('INVALID_INPUT', { details: [{ path: 'toVersion', message }] })
  }
  const outputs = pinnedOutputs(await knownOutputs(ctx, definition))
  return {
    ...{ workflowId, version, definition },
    claimsAt: (ctx, stepId) => claimsOf(ctx, { workflowId, version, settled: true }, definition, stepId),
    givenBy: (stepId) => outputs.get(stepId)?.type ?? null,
  }
}

type Asking = Extract<OpenWalk, { is: 'asking' }>

/** Finds which of the runs that a run waits for end with a result of the type that the version claims. */
export async function fittingChildren(
  ctx: ServiceContext,
  { walks }: OpenRun,
  to: Destination,
): Promise<(walk: Asking) => boolean> {
  const misfits = new Set<Asking>()
  for (const walk of walks) if (walk.is === 'asking' && !(await fitsChild(ctx, walk, to))) misfits.add(walk)
  return (walk) => !misfits.has(walk)
}

async function fitsChild(ctx: ServiceContext, { child, next, stepId }: Asking, to: Destination): Promise<boolean> {
  if (!child || !next || 'failure' in next) return true
  const { workflowId, version } = next.config
  if (workflowId !== child.workflowId) return false
  const claimed = to.givenBy(stepId)
  if (String(version) === String(child.version) || claimed === null) return true
  return gives(ctx, await pinnedDefinition(ctx, child.workflowId, child.version), claimed)
}

/** Whether the version ends with a result of the type that the run that waits for this one claims, if any does. */
export async function fitsParent(
  ctx: ServiceContext,
  run: { id: string; parentRunId: string | null },
  to: Destination,
): Promise<boolean> {
  if (run.parentRunId === null) return true
  const { db, tenantId } = ctx
  const [waits] = await db
    .select({ run: runs, stepId: pauses.stepId })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId)))
    .where(
      and(
        ...[eq(pauses.tenantId, tenantId), eq(pauses.runId, run.parentRunId), eq(pauses.childRunId, run.id)],
        ...[isNull(pauses.answeredAt), isNull(runs.endTime)],
      ),
    )
  if (!waits) return true
  const parent = await definitionOf(ctx, waits.run)
  const claimed = pinnedOutputs(await knownOutputs(ctx, parent, new Set([waits.stepId]))).get(waits.stepId)?.type
  return !claimed || gives(ctx, to.definition, claimed)
}

async function gives(ctx: ServiceContext, definition: Definition, claimed: ValueType): Promise<boolean> {
  const outputs = pinnedOutputs(await knownOutputs(ctx, definition))
  const given = resultTypeOf(definition, await inSlices(ctx.tenantId, flowing(definition, outputs)))
  return isSame(join(given, claimed), claimed)
}
