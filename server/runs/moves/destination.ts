import { and, eq, isNull } from 'drizzle-orm'
import { pauses, runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { Definition } from '../../definition/schema'
import { isSame, join, type ValueType } from '../../definition/types/type'
import { AppError } from '../../errors'
import type { OpenRun, OpenWalk } from '../../interpreter/index'
import { definitionOf } from '../../run-store/definition'
import type { Claim } from '../../workflows/check/fits'
import { knownOutputs, pinnedOutputs, resultTypeAt } from '../../workflows/check/known-outputs'
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
  /** The types that were found of other versions, for all runs that are judged. */
  types: Map<string, Promise<ValueType | null>>
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
    types: new Map(),
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
  return gives(ctx, to, child, claimed)
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
  const claimed = await once(to, ['takes', waits.run.workflowId, waits.run.workflowVersion, waits.stepId], async () => {
    const parent = await definitionOf(ctx, waits.run)
    return pinnedOutputs(await knownOutputs(ctx, parent, new Set([waits.stepId]))).get(waits.stepId)?.type ?? null
  })
  return claimed === null || gives(ctx, to, to, claimed)
}

/** Whether a version ends with a result of a type; not if its own is not known, or takes too much to find. */
async function gives(
  ctx: ServiceContext,
  to: Destination,
  { workflowId, version }: { workflowId: string; version: number },
  claimed: ValueType,
): Promise<boolean> {
  const given = await once(to, ['gives', workflowId, version], () => resultTypeAt(ctx, workflowId, version))
  return given !== null && isSame(join(given, claimed), claimed)
}

function once({ types }: Destination, of: readonly unknown[], find: () => Promise<ValueType | null>) {
  const key = JSON.stringify(of)
  const found = types.get(key) ?? find()
  types.set(key, found)
  return found
}
