import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { pauses, runs, scopes, stepRecords, walks } from '@/db/schema/runs'
import { agentTurns } from '@/db/schema/turns'
import { webhookDeliveries } from '@/db/schema/webhooks'
import { AppError } from '../errors'
import { removeFiles } from '../files/sweep'
import { countAllDays } from '../views/insights/days'
import { listOf, othersBelow, ownRuns, threadsBegunBy } from './data'
import { deleteThreadsOf } from './delete-threads'
import type { Erasure } from './erasure'

/** The maximum runs that one transaction deletes. */
const BATCH = 50
/** How many runs are looked up at a time. */
const ROUND = 500
/** How many rows of one very large run are deleted at a time. */
const ROWS = 1_000

/**
 * Deletes the runs with the subject's data: page by page, each after the runs that are found through it.
 * @returns false if it ran out of time
 */
export async function deleteRuns(erasure: Erasure): Promise<boolean> {
  const { ctx, sub } = erasure
  for (let after = ''; ; ) {
    if (erasure.isLate()) return false
    const page = await ownRuns(ctx, sub, after, ROUND)
    // Restart from the beginning: some may have been added behind.
    if (page.length === 0 && after === '') return true
    after = page.at(-1) ?? ''
    // Insights preserve the counts of past days.
    while (page.length > 0 && !(await countAllDays(ctx))) if (erasure.isLate()) return false
    const levels = page.length > 0 ? [page] : []
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      if (erasure.isLate()) return false
      const below = await othersBelow(ctx, sub, level, ROUND)
      if (below.length > 0) levels.push(below)
      else if (await deleteLevel(erasure, level)) levels.pop()
      else return false
    }
  }
}

function deleteLevel(erasure: Erasure, ids: string[]): Promise<boolean> {
  return erasure.inPieces(
    ids,
    BATCH,
    (piece) => deletePiece(erasure, piece),
    (id) => reduceRun(erasure, id),
  )
}

/** @throws AppError CONFLICT if one was started since the open ones were ended */
async function deletePiece(erasure: Erasure, ids: string[]): Promise<void> {
  let fileIds: string[] = []
  await erasure.delete(async (tx) => {
    const areThese = and(eq(runs.tenantId, tx.tenantId), inArray(runs.id, ids))
    const locked = await tx.db
      .select({ endTime: runs.endTime })
      .from(runs)
      .where(areThese)
      .orderBy(runs.id)
      .for('update')
    const open = locked.filter(({ endTime }) => endTime === null).length
    if (open > 0) throw openRuns(open)
    // Found only through these runs.
    const begun = await deleteThreadsOf(tx, sql`(${threadsBegunBy(tx, erasure.sub, listOf(ids))})`)
    // Nobody can read them from now on; if the process dies before their bytes are removed, the sweep does it.
    const condemned = await tx.db
      .update(files)
      .set({ condemnedAt: tx.now() })
      .where(and(eq(files.tenantId, tx.tenantId), inArray(files.runId, ids), isNull(files.condemnedAt)))
      .returning({ id: files.id })
    fileIds = [...begun.files, ...condemned.map(({ id }) => id)]
    const gone = await tx.db.delete(runs).where(areThese).returning({ id: runs.id })
    return { runs: gone.length, files: fileIds.length, threads: begun.threads }
  })
  await removeFiles(erasure.ctx, fileIds, () => erasure.isLate())
}

/** Deletes rows of a run that has too many for one transaction. @returns whether any existed */
async function reduceRun(erasure: Erasure, id: string): Promise<boolean> {
  const { ctx, sub } = erasure
  // Before the records through which they are found.
  let begun: string[] = []
  const gone = await erasure.delete(async (tx) => {
    const { threads, files } = await deleteThreadsOf(tx, sql`(${threadsBegunBy(tx, sub, listOf([id]))})`)
    begun = files
    return { threads, files: files.length }
  })
  await removeFiles(ctx, begun, () => erasure.isLate())
  let any = (gone.threads ?? 0) > 0
  for (const table of [agentTurns, stepRecords, walks, scopes, pauses, webhookDeliveries]) {
    for (let left = ROWS; left === ROWS; ) {
      if (erasure.isLate()) return true
      const ofRun = sql`tenant_id = ${ctx.tenantId} and run_id = ${id}`
      // Filtered twice: in a partitioned table, another partition has rows with equal `ctid`s.
      const found = await ctx.db.execute(sql`
        delete from ${table} where ${ofRun} and ctid = any(array(select ctid from ${table} where ${ofRun} limit ${ROWS}))
        returning 1`)
      left = found.length
      any ||= left > 0
    }
  }
  return any
}

export function openRuns(count: number): AppError {
  const message = `${count} of the runs ${count === 1 ? 'is' : 'are'} open. End them first, or send ?terminateRuns=true.`
  return new AppError('CONFLICT', { message: 'The subject has open runs', details: [{ message, openRuns: count }] })
}
