import { runs, walks } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { newId } from '../ids'
import type { JsonObject } from '../json'
import { emit } from '../outbox'
import { resolveVersion } from '../versions'
import { requireRunnable } from '../workflows/check'
import { findDefinition, getWorkflowRow } from '../workflows/find'
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
  const row = await getWorkflowRow(ctx, input.workflowId)
  if (row.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
  const version = resolveVersion(input.version ?? (row.publishedVersion === null ? 'latest' : 'published'), row)
  // A draft beside a published version is its editors' to try out.
  if (version !== null && row.publishedVersion !== null && version > row.publishedVersion)
    authorize(ctx, 'workflow:write')
  const definition = version === null ? null : await findDefinition(ctx, row.id, version)
  if (version === null || definition === null) throw new AppError('WORKFLOW_NOT_FOUND')
  if (version !== row.publishedVersion) await requireRunnable(ctx, definition)
  const initialStep = definition.initialStep
  if (initialStep === null)
    throw new AppError('VALIDATION_FAILED', {
      details: [{ path: 'initialStep', message: 'The workflow has no initial step.' }],
    })
  const data = readStartInput(definition.payload, input.body)

  const runId = newId('run')
  const now = ctx.now()
  await withTransaction(ctx, async (tx) => {
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
  })
  return { runId, workflowVersion: version }
}
