import { runs, walks } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { newId } from '../ids'
import type { JsonObject } from '../json'
import { emit } from '../outbox'
import { requireRunnable } from '../workflows/check'
import { holdVersion } from '../workflows/find'
import { readStartInput } from './input'

export const MAIN_BRANCH = 'main'

export interface StartedRun {
  runId: string
  workflowVersion: number
}

/**
 * Makes a run: the row, its main walk and the event that sets it going, in one transaction. It runs on the
 * published version, or on the latest draft when none was ever published, and stays on that version.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VALIDATION_FAILED, INVALID_INPUT, FORBIDDEN
 */
export async function startRun(
  ctx: ServiceContext,
  input: { workflowId: string; body: JsonObject; version?: string | undefined },
): Promise<StartedRun> {
  authorize(ctx, 'run:start')
  const runId = newId('run')
  const now = ctx.now()
  const version = await withTransaction(ctx, async (tx) => {
    const { row, version, definition } = await holdVersion(tx, input.workflowId, input.version)
    // A draft beside a published version is its editors' to try out.
    if (row.publishedVersion !== null && version > row.publishedVersion) authorize(ctx, 'workflow:write')
    if (version !== row.publishedVersion) await requireRunnable(tx, definition)
    const initialStep = definition.initialStep
    if (initialStep === null)
      throw new AppError('VALIDATION_FAILED', {
        details: [{ path: 'initialStep', message: 'The workflow has no initial step.' }],
      })
    const data = readStartInput(definition.payload, input.body)
    await tx.db.insert(runs).values({
      tenantId: tx.tenantId,
      id: runId,
      workflowId: row.id,
      workflowVersion: version,
      workflowName: definition.name,
      status: 'running',
      input: data,
      data,
      currentStepId: initialStep,
      context: tx.trusted,
      startedBy: tx.actor.id,
      startTime: now,
      updatedAt: now,
    })
    await tx.db.insert(walks).values({
      tenantId: tx.tenantId,
      runId,
      branch: MAIN_BRANCH,
      epoch: 1,
      segment: 1,
      status: 'requested',
      stepId: initialStep,
      visit: 1,
      updatedAt: now,
    })
    await emit(tx, 'workflow/walk.requested', {
      tenantId: tx.tenantId,
      runId,
      branch: MAIN_BRANCH,
      epoch: 1,
      segment: 1,
    })
    return version
  })
  return { runId, workflowVersion: version }
}
