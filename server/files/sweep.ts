import { and, eq, inArray, isNotNull, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { files } from '@/db/schema/files'
import { runs } from '@/db/schema/runs'
import { threads } from '@/db/schema/threads'
import type { ServiceContext, Sweep } from '../context'
import { INCOMPLETE } from './direct/find'
import { ARRIVING_MS } from './direct/limits'
import { requireSharedStore } from './shared-store'
import { fileStorage } from './storage'

/** By then every start that could claim its upload has ended, and every turn: one that begins, also anew, counts the time from then. */
const UNCLAIMED_MS = 60 * 60_000
/** A claim commits together with its run; after this long, a statement sees that if it exists. */
const SETTLED_MS = 60_000
const BATCH = 200
/** After this long, the rest waits for the next sweep. */
const LONGEST_MS = 60_000

/**
 * Removes unreferenced files: uploads that were not completed or that nobody took, and files of deleted runs and threads.
 * Marks a file as condemned, then deletes the bytes, then the row, so after a crash the next sweep continues.
 */
export async function sweepFiles(sweep: Sweep): Promise<{ removed: number }> {
  const { db, log, now } = sweep
  const began = now()
  let removed = 0
  for (let found = BATCH; found >= BATCH && now().getTime() - began.getTime() < LONGEST_MS; ) {
    const marked = await markForDeletion(db, began)
    const condemned = await db
      .select({ tenantId: files.tenantId, id: files.id })
      .from(files)
      // Those that could not be removed now are condemned later.
      .where(and(lte(files.condemnedAt, began), settled(began)))
      .orderBy(files.condemnedAt)
      .limit(BATCH)
    for (const { tenantId, id } of condemned) if (await removeFile({ db, log, now, tenantId }, id)) removed += 1
    found = Math.max(marked, condemned.length)
  }
  if (removed > 0) log.info({ removed }, 'unused files removed')
  return { removed }
}

/** Removes condemned files until it is late, and leaves the rest, and failures, to the sweep. */
export async function removeFiles(ctx: ServiceContext, ids: readonly string[], isLate: () => boolean): Promise<void> {
  for (const id of ids) {
    if (isLate()) return
    await removeFile(ctx, id)
  }
}

async function removeFile(
  { db, log, now, tenantId }: Pick<ServiceContext, 'db' | 'log' | 'now' | 'tenantId'>,
  id: string,
): Promise<boolean> {
  const row = and(eq(files.tenantId, tenantId), eq(files.id, id))
  try {
    // In another storage, nothing would be deleted, and the bytes would be leaked.
    await requireSharedStore(db, log)
    await fileStorage().delete(tenantId, id)
    const [gone] = await db
      .delete(files)
      .where(and(row, settled(now())))
      .returning({ id: files.id })
    if (gone) return true
  } catch (err) {
    log.warn({ err, tenantId, fileId: id }, 'a file could not be removed; the next sweep tries again')
  }
  // Move it to the end of the queue, so it does not delay the others.
  await db.update(files).set({ condemnedAt: now() }).where(row)
  return false
}

/** Bytes that may still arrive are found by their file's row: a later sweep deletes them. */
function settled(now: Date): SQL | undefined {
  return or(isNull(files.uploadedBy), lt(files.createdAt, new Date(now.getTime() - ARRIVING_MS)))
}

/** @returns how many it marked */
async function markForDeletion(db: Db, now: Date): Promise<number> {
  const ownerGone = and(
    sql`not exists (select 1 from ${runs} r where r.tenant_id = ${files.tenantId} and r.id = ${files.runId})`,
    sql`not exists (select 1 from ${threads} t where t.tenant_id = ${files.tenantId} and t.id = ${files.threadId})`,
  )
  // A turn is over long before its uploads could be taken for unused, so its claim is not under way here.
  const isOfThread = and(isNotNull(files.claimedAt), isNotNull(files.threadId))
  const unused = or(
    and(
      eq(files.sha256, INCOMPLETE),
      isNull(files.claimedAt),
      lt(files.createdAt, new Date(now.getTime() - ARRIVING_MS)),
    ),
    and(isNull(files.claimedAt), lt(files.createdAt, new Date(now.getTime() - UNCLAIMED_MS))),
    and(or(lt(files.claimedAt, new Date(now.getTime() - SETTLED_MS)), isOfThread), ownerGone),
  )
  // A start that is claiming its upload right now has locked the row; skip it.
  const marked = await db
    .update(files)
    .set({ condemnedAt: now })
    .where(
      and(
        isNull(files.condemnedAt),
        inArray(
          sql`(${files.tenantId}, ${files.id})`,
          db
            .select({ tenantId: files.tenantId, id: files.id })
            .from(files)
            .where(and(isNull(files.condemnedAt), unused))
            .limit(BATCH)
            .for('update', { skipLocked: true }),
        ),
      ),
    )
    .returning({ id: files.id })
  return marked.length
}
