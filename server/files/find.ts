import { and, eq, inArray, isNotNull, isNull, or, type SQL } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { runs } from '@/db/schema/runs'
import { threads } from '@/db/schema/threads'
import { filesInReach, threadsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { isFileId } from './storage-key'

export type FileRow = typeof files.$inferSelect

/**
 * Those of the ids that name files of the tenant's runs and threads within the caller's reach. A file cannot be found
 * once its run or thread is deleted, even before the sweep removes it.
 */
export function findFiles(ctx: ServiceContext, ids: readonly string[]): Promise<FileRow[]> {
  const ofRun = and(isNotNull(runs.id), filesInReach(ctx))
  return filesWhere(ctx, ids, or(ofRun, and(isNotNull(threads.id), threadsInReach(ctx))))
}

/**
 * The files of a message with these ids, which were checked before: uploads, or files of runs and threads. One statement,
 * because another message may be taking an upload.
 */
export function findCheckedFiles(ctx: ServiceContext, ids: readonly string[]): Promise<FileRow[]> {
  return filesWhere(ctx, ids, or(isNull(files.claimedAt), isNotNull(runs.id), isNotNull(threads.id)))
}

async function filesWhere(ctx: ServiceContext, ids: readonly string[], which: SQL | undefined): Promise<FileRow[]> {
  const known = [...new Set(ids.map((id) => id.toLowerCase()))].filter(isFileId)
  if (known.length === 0) return []
  const rows = await ctx.db
    .select({ file: files })
    .from(files)
    .leftJoin(runs, and(eq(runs.tenantId, files.tenantId), eq(runs.id, files.runId)))
    .leftJoin(threads, and(eq(threads.tenantId, files.tenantId), eq(threads.id, files.threadId)))
    .where(and(eq(files.tenantId, ctx.tenantId), inArray(files.id, known), isNull(files.condemnedAt), which))
  return rows.map(({ file }) => file)
}
