import { and, count, eq, isNull, ne, notExists, sql } from 'drizzle-orm'
import { runMoves } from '@/db/schema/moves'
import { runs } from '@/db/schema/runs'
import { testCases } from '@/db/schema/test-cases'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { newCancellation, terminateNow } from '../interpreter/index'
import { parseInput } from '../parse'
import { holdRun } from '../run-store/held'
import { findRow, rowIs } from '../versioned/rows'
import { WORKFLOW } from './noun'
import { DeletePermanently } from './schema'

const BATCH = 100

/**
 * Permanently deletes an archived workflow. Its runs stay readable: they contain the workflow's name, and their
 * versions are retained. Open runs prevent this unless `terminateRuns` is set; each is terminated in its own
 * transaction, so an interrupted delete can be repeated.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_NOT_ARCHIVED, INVALID_INPUT; CONFLICT while runs are open, or while the
 * published version of another workflow pins one of its versions
 */
export async function deleteWorkflowPermanently(ctx: ServiceContext, input: { id: string; query?: unknown }) {
  authorize(ctx, 'workflow:delete-permanently')
  const { terminateRuns } = parseInput(DeletePermanently, input.query ?? {})
  if (terminateRuns) await terminateOpenRuns(ctx, input.id)
  return withTransaction(ctx, async (tx) => {
    const row = await findRow(tx, WORKFLOW, input.id, { lock: true })
    if (row.status !== 'archived') throw new AppError('WORKFLOW_NOT_ARCHIVED')
    const versions = and(eq(workflowVersions.tenantId, tx.tenantId), eq(workflowVersions.workflowId, row.id))
    // A start from before the archive has locked its version; once we have these locks, its run is visible.
    await tx.db
      .select({ version: workflowVersions.version })
      .from(workflowVersions)
      .where(versions)
      .orderBy(workflowVersions.version)
      .for('update')
    const ofWorkflow = and(eq(runs.tenantId, tx.tenantId), eq(runs.workflowId, row.id))
    const [open] = await tx.db
      .select({ count: count() })
      .from(runs)
      .where(and(ofWorkflow, isNull(runs.endTime)))
    if (open && open.count > 0) throw openRuns(open.count)
    await refuseIfUsed(tx, row.id)
    const pinned = tx.db
      .select({ one: sql`1` })
      .from(runs)
      .where(and(ofWorkflow, eq(runs.workflowVersion, workflowVersions.version)))
    // The history of a moved run follows the versions that it had.
    const had = tx.db
      .select({ one: sql`1` })
      .from(runMoves)
      .where(
        and(
          eq(runMoves.tenantId, tx.tenantId),
          eq(runMoves.workflowId, row.id),
          sql`${workflowVersions.version} in (${runMoves.fromVersion}, ${runMoves.toVersion})`,
        ),
      )
    await tx.db.delete(workflowVersions).where(and(versions, notExists(pinned), notExists(had)))
    // They contain data of its runs, and nobody could read or delete them later.
    const { tenantId, noun, objectId } = testCases
    await tx.db.delete(testCases).where(and(eq(tenantId, tx.tenantId), eq(noun, 'workflow'), eq(objectId, row.id)))
    await tx.db.delete(workflows).where(rowIs(tx, WORKFLOW, row.id))
    await record(tx, 'workflow.deleted', row)
    return { id: row.id, deleted: true as const }
  })
}

async function terminateOpenRuns(ctx: ServiceContext, workflowId: string): Promise<void> {
  authorize(ctx, 'run:terminate')
  const row = await findRow(ctx, WORKFLOW, workflowId)
  if (row.status !== 'archived') throw new AppError('WORKFLOW_NOT_ARCHIVED')
  for (;;) {
    const open = await ctx.db
      .select({ runId: runs.id })
      .from(runs)
      .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.workflowId, row.id), isNull(runs.endTime)))
      .limit(BATCH)
    for (const { runId } of open) await terminate(ctx, runId)
    if (open.length < BATCH) return
  }
}

async function terminate(ctx: ServiceContext, runId: string): Promise<void> {
  await withTransaction(ctx, async (tx) => {
    const { held, run } = await holdRun(tx, runId)
    // It may have ended since it was listed, which is fine too.
    if (run.endTime) return
    const reason = 'The workflow was deleted.'
    await terminateNow(held, run, newCancellation(tx, 'terminate', reason))
    await record(tx, 'run.terminated', { id: run.id, name: run.workflowName }, { reason })
  })
}

/** @throws AppError CONFLICT */
async function refuseIfUsed(tx: TransactionContext, workflowId: string): Promise<void> {
  const users = await tx.db
    .select({ id: workflows.id, name: workflows.name })
    .from(workflows)
    .innerJoin(
      workflowVersions,
      and(
        eq(workflowVersions.tenantId, workflows.tenantId),
        eq(workflowVersions.workflowId, workflows.id),
        eq(workflowVersions.version, workflows.publishedVersion),
      ),
    )
    .where(
      and(
        eq(workflows.tenantId, tx.tenantId),
        ne(workflows.status, 'archived'),
        ne(workflows.id, workflowId),
        sql`exists (
          select 1 from jsonb_each(${workflowVersions.pins}) pin
          where pin.value->>'kind' = 'workflow' and pin.value->>'id' = ${workflowId})`,
      ),
    )
    .orderBy(workflows.name)
    .limit(5)
  if (users.length === 0) return
  const details = users.map(({ id, name }) => ({ message: `${name} (${id}) runs it.`, workflowId: id }))
  throw new AppError('CONFLICT', { message: 'Other workflows run this workflow', details })
}

function openRuns(count: number): AppError {
  const message = `${count} of its runs ${count === 1 ? 'is' : 'are'} open. End them first, or send ?terminateRuns=true.`
  return new AppError('CONFLICT', { message: 'The workflow has open runs', details: [{ message, openRuns: count }] })
}
