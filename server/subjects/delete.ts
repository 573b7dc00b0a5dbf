import { and, eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import { events } from '@/db/schema/events'
import { idempotencyKeys } from '@/db/schema/idempotency'
import { startLinks } from '@/db/schema/start-links'
import { taskLinks } from '@/db/schema/task-links'
import { threads } from '@/db/schema/threads'
import { agentTurns } from '@/db/schema/turns'
import { usageDays } from '@/db/schema/usage'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { removeFiles } from '../files/sweep'
import { newCancellation, terminateNow } from '../interpreter/index'
import { parseInput } from '../parse'
import { holdRun } from '../run-store/held'
import { listOf, openRunsOf, requireSubject } from './data'
import { deleteRuns, openRuns } from './delete-runs'
import { deleteThreadsOf } from './delete-threads'
import { Erasure } from './erasure'
import { DeleteSubjectData } from './schema'

/** How many are looked up at a time. */
const ROUND = 500
/** The maximum threads that one transaction deletes. */
const BATCH = 50
/** How many events are examined at a time: no index knows who posted them. */
const EVENTS = 5_000

/**
 * Deletes the data of a subject: its runs with their history and files, its threads, its events and the responses
 * stored for its idempotency keys. Each batch is a transaction of its own and finds the remaining data, so the next
 * call continues an interrupted one, or one that is not `done`.
 * @throws AppError INVALID_INPUT, FORBIDDEN; CONFLICT while runs are open, unless `terminateRuns` is set
 */
export async function deleteSubjectData(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'subject:delete')
  const { sub, terminateRuns } = parseInput(DeleteSubjectData, input)
  await requireSubject(ctx, sub)
  const erasure = new Erasure(ctx, sub)
  const done =
    (await endOpenRuns(erasure, terminateRuns)) &&
    (await deleteThreads(erasure)) &&
    (await deleteRuns(erasure)) &&
    (await deleteEvents(erasure)) &&
    (await deleteKeys(erasure)) &&
    (await endLinks(erasure)) &&
    (await deleteTurns(erasure)) &&
    (await deleteUsage(erasure))
  if (done) await erasure.finish()
  const { deleted } = erasure
  ctx.log.info({ ...deleted, done, by: ctx.actor.id }, 'data of a subject deleted')
  return { sub, deleted, done }
}

async function endOpenRuns(erasure: Erasure, mayTerminate: boolean): Promise<boolean> {
  const { ctx, sub } = erasure
  for (;;) {
    const open = await openRunsOf(ctx, sub, ROUND)
    if (open.length === 0) return true
    if (!mayTerminate) throw openRuns(open.length)
    for (const id of open) {
      if (erasure.isLate()) return false
      await terminate(ctx, id)
    }
  }
}

async function terminate(ctx: ServiceContext, runId: string): Promise<void> {
  await withTransaction(ctx, async (tx) => {
    const { held, run } = await holdRun(tx, runId)
    if (run.endTime) return
    const reason = 'The data of its subject is deleted.'
    await terminateNow(held, run, newCancellation(tx, 'terminate', reason))
    await record(tx, 'run.terminated', { id: run.id, name: run.workflowName }, { reason })
  })
}

async function deleteThreads(erasure: Erasure): Promise<boolean> {
  const { ctx, sub } = erasure
  const { tenantId } = ctx
  for (;;) {
    if (erasure.isLate()) return false
    const found = await ctx.db.execute<{ id: string }>(
      sql`select id from ${threads} where tenant_id = ${tenantId} and subject = ${sub} limit ${ROUND}`,
    )
    if (found.length === 0) return true
    const ids = found.map(({ id }) => id)
    if (!(await erasure.inPieces(ids, BATCH, (piece) => deleteSome(erasure, piece)))) return false
  }
}

async function deleteSome(erasure: Erasure, ids: readonly string[]): Promise<void> {
  let fileIds: string[] = []
  await erasure.delete(async (tx) => {
    const gone = await deleteThreadsOf(tx, listOf(ids))
    fileIds = gone.files
    return { threads: gone.threads, files: gone.files.length }
  })
  await removeFiles(erasure.ctx, fileIds, () => erasure.isLate())
}

/** Page by page in key order. */
async function deleteEvents(erasure: Erasure): Promise<boolean> {
  const { ctx, sub } = erasure
  const { tenantId } = ctx
  for (let after: string | null = ''; after !== null; ) {
    if (erasure.isLate()) return false
    const from: string = after
    const page: SQL = sql`
      select id, posted_by from ${events} where tenant_id = ${tenantId} and id > ${from} order by id limit ${EVENTS}`
    const found: { id: string; mine: boolean | null }[] = await ctx.db.execute<{
      id: string
      mine: boolean | null
    }>(sql`
      with page as materialized (${page})
      select id, posted_by = ${sub} as mine from page
      where posted_by = ${sub} or id = (select max(id) from page) order by id`)
    const ids = found.filter(({ mine }) => mine).map(({ id }) => id)
    const remove = (piece: string[]) =>
      erasure.delete(async ({ db }) => ({
        events: await rows(
          db.execute(sql`delete from ${events} where tenant_id = ${tenantId} and id in ${listOf(piece)} returning 1`),
        ),
      }))
    if (!(await erasure.inPieces(ids, ROUND, remove))) return false
    after = found.at(-1)?.id ?? null
  }
  return true
}

async function deleteKeys(erasure: Erasure): Promise<boolean> {
  const { tenantId } = erasure.ctx
  for (;;) {
    if (erasure.isLate()) return false
    const { idempotencyKeys: gone } = await erasure.delete(async ({ db }) => ({
      idempotencyKeys: await rows(
        db.execute(sql`
          delete from ${idempotencyKeys} where (tenant_id, scope, key) in (
            select tenant_id, scope, key from ${idempotencyKeys}
            where tenant_id = ${tenantId} and subject = ${erasure.sub} limit ${ROUND})
          returning 1`),
      ),
    }))
    if (gone === 0) return true
  }
}

/** Ends its links to others' runs and to workflows. The rows stay, like its answers and the runs that were started. */
async function endLinks({ ctx, sub }: Erasure): Promise<true> {
  await ctx.db
    .update(startLinks)
    .set({ revokedAt: ctx.now() })
    .where(
      and(
        ...[eq(startLinks.tenantId, ctx.tenantId), eq(startLinks.makerKind, 'jwt'), eq(startLinks.makerId, sub)],
        ...[isNull(startLinks.revokedAt), gt(startLinks.expiresAt, ctx.now())],
      ),
    )
  const { tenantId, makerKind, makerId, usedAt, revokedAt, expiresAt } = taskLinks
  await ctx.db
    .update(taskLinks)
    .set({ revokedAt: ctx.now() })
    .where(
      and(
        ...[eq(tenantId, ctx.tenantId), eq(makerKind, 'jwt'), eq(makerId, sub)],
        ...[isNull(usedAt), isNull(revokedAt), gt(expiresAt, ctx.now())],
      ),
    )
  return true
}

/** Deletes the turns of its requests, those with a run or a thread aside, which go with that. */
async function deleteTurns({ ctx, sub }: Erasure): Promise<true> {
  const { tenantId, subject, runId } = agentTurns
  await ctx.db.delete(agentTurns).where(and(eq(tenantId, ctx.tenantId), eq(subject, sub), isNull(runId)))
  return true
}

/** Deletes what agents used for it. Others' sums stay. */
async function deleteUsage({ ctx, sub }: Erasure): Promise<true> {
  const { tenantId, kind, key } = usageDays
  await ctx.db.delete(usageDays).where(and(eq(tenantId, ctx.tenantId), eq(kind, 'subject'), eq(key, sub)))
  return true
}

async function rows(statement: PromiseLike<readonly unknown[]>): Promise<number> {
  return (await statement).length
}
