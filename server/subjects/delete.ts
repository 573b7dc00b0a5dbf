import { createHash } from 'node:crypto'
import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { events } from '@/db/schema/events'
import { files } from '@/db/schema/files'
import { idempotencyKeys } from '@/db/schema/idempotency'
import { runs } from '@/db/schema/runs'
import { threads } from '@/db/schema/threads'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { removeFiles } from '../files/sweep'
import { getRunRow } from '../interpreter/find-run'
import { newCancellation, terminateNow } from '../interpreter/terminate'
import { parseInput } from '../parse'
import { countAllDays } from '../views/insights/days'
import type { SubjectCounts } from './count'
import { requireSubject, runsOf, threadsOf } from './data'
import { DeleteSubjectData } from './schema'

/** How many runs or threads one transaction deletes: each may have many rows. */
const BATCH = 50
/** How many runs are looked up at a time. */
const ROUND = 500
/** How long one call works. The next call continues. */
const BUDGET_MS = 20_000

/** One call. Its parts return false when there is no time left. */
interface Erasure {
  ctx: ServiceContext
  sub: string
  deleted: SubjectCounts
  isLate: () => boolean
}

/**
 * Deletes the data of a subject: its runs with their history and files, its threads, its events and the responses kept for
 * its idempotency keys. Each batch is a transaction of its own and is found by what is left, so a call that was interrupted,
 * or that says it is not `done`, is continued by the next.
 * @throws AppError INVALID_INPUT, FORBIDDEN; CONFLICT while runs are open, unless they are to be terminated
 */
export async function deleteSubjectData(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'subject:delete')
  const { sub, terminateRuns } = parseInput(DeleteSubjectData, input)
  await requireSubject(ctx, sub)
  const begun = performance.now()
  const deleted: SubjectCounts = { runs: 0, files: 0, threads: 0, events: 0, idempotencyKeys: 0 }
  const erasure = { ctx, sub, deleted, isLate: () => performance.now() - begun > BUDGET_MS }
  const done =
    (await endOpenRuns(erasure, terminateRuns)) &&
    (await note(erasure)) &&
    // Before the runs through which some of them are found.
    (await deleteThreads(erasure)) &&
    (await deleteRuns(erasure)) &&
    (await deleteRest(erasure))
  ctx.log.info({ ...deleted, done, by: ctx.actor.id }, 'data of a subject deleted')
  return { sub, deleted, done }
}

async function endOpenRuns({ ctx, sub, isLate }: Erasure, mayTerminate: boolean): Promise<boolean> {
  for (;;) {
    const open = await findRuns(ctx, sub, sql`r.end_time is null`)
    if (open.length === 0) return true
    if (!mayTerminate) throw openRuns(open.length)
    for (const id of open) {
      if (isLate()) return false
      await terminate(ctx, id)
    }
  }
}

/** Before anything is deleted, because the batches commit one by one. The entry names a digest, not the subject. */
async function note({ ctx, sub }: Erasure): Promise<boolean> {
  const id = `sha256:${createHash('sha256').update(sub).digest('hex')}`
  await withTransaction(ctx, (tx) => record(tx, 'subject.deleted', { id, name: 'Data of a subject' }))
  return true
}

async function deleteThreads({ ctx, sub, deleted, isLate }: Erasure): Promise<boolean> {
  for (;;) {
    const gone = await ctx.db.execute(sql`
      with recursive ${runsOf(ctx, sub)}
      delete from ${threads} where tenant_id = ${ctx.tenantId} and id in (
        select id from (${threadsOf(ctx, sub)}) t limit ${BATCH})
      returning id`)
    deleted.threads += gone.length
    if (gone.length < BATCH) return true
    if (isLate()) return false
  }
}

async function deleteRuns({ ctx, sub, deleted, isLate }: Erasure): Promise<boolean> {
  for (;;) {
    const round = await findRuns(ctx, sub, sql`true`)
    if (round.length === 0) return true
    // Insights keep the counts of days that are over.
    while (!(await countAllDays(ctx))) if (isLate()) return false
    for (let at = 0; at < round.length; at += BATCH) {
      if (isLate()) return false
      const batch = await deleteBatch(ctx, round.slice(at, at + BATCH))
      deleted.runs += batch.runs
      deleted.files += batch.fileIds.length
      await removeFiles(ctx, batch.fileIds)
    }
  }
}

async function deleteRest({ ctx, sub, deleted }: Erasure): Promise<boolean> {
  const { db, tenantId } = ctx
  const posted = await db
    .delete(events)
    .where(and(eq(events.tenantId, tenantId), eq(events.postedBy, sub)))
    .returning({ id: events.id })
  deleted.events = posted.length
  const keys = await db
    .delete(idempotencyKeys)
    .where(and(eq(idempotencyKeys.tenantId, tenantId), eq(idempotencyKeys.subject, sub)))
    .returning({ key: idempotencyKeys.key })
  deleted.idempotencyKeys = keys.length
  return true
}

/** Some of the subject's runs; those that are found through others come before them. */
async function findRuns(ctx: ServiceContext, sub: string, where: SQL): Promise<string[]> {
  const found = await ctx.db.execute<{ id: string }>(sql`
    with recursive ${runsOf(ctx, sub)}
    select r.id from (select id, max(back) as back from mine group by id) m
    join ${runs} r on r.tenant_id = ${ctx.tenantId} and r.id = m.id and ${where}
    order by m.back desc, r.id limit ${ROUND}`)
  return found.map(({ id }) => id)
}

/** @throws AppError CONFLICT if one was started since the open ones were ended */
function deleteBatch(ctx: ServiceContext, ids: string[]): Promise<{ runs: number; fileIds: string[] }> {
  return withTransaction(ctx, async (tx) => {
    const areThese = and(eq(runs.tenantId, tx.tenantId), inArray(runs.id, ids))
    const locked = await tx.db
      .select({ endTime: runs.endTime })
      .from(runs)
      .where(areThese)
      .orderBy(runs.id)
      .for('update')
    const open = locked.filter(({ endTime }) => endTime === null).length
    if (open > 0) throw openRuns(open)
    // Nobody can read them from now on; if the process dies before their bytes are removed, the sweep does it.
    const condemned = await tx.db
      .update(files)
      .set({ condemnedAt: tx.now() })
      .where(and(eq(files.tenantId, tx.tenantId), inArray(files.runId, ids), isNull(files.condemnedAt)))
      .returning({ id: files.id })
    const gone = await tx.db.delete(runs).where(areThese).returning({ id: runs.id })
    return { runs: gone.length, fileIds: condemned.map(({ id }) => id) }
  })
}

async function terminate(ctx: ServiceContext, runId: string): Promise<void> {
  await withTransaction(ctx, async (tx) => {
    const run = await getRunRow(tx, runId, { lock: true })
    if (run.endTime) return
    const reason = 'The data of its subject is deleted.'
    await terminateNow(tx, run, newCancellation(tx, 'terminate', reason))
    await record(tx, 'run.terminated', { id: run.id, name: run.workflowName }, { reason })
  })
}

function openRuns(count: number): AppError {
  const message = `${count} of the runs ${count === 1 ? 'is' : 'are'} open. End them first, or send ?terminateRuns=true.`
  return new AppError('CONFLICT', { message: 'The subject has open runs', details: [{ message, openRuns: count }] })
}
