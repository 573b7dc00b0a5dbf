import { and, eq, isNull } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { runs } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { filesInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { requireSharedStore } from './shared-store'
import { fileStorage } from './storage'
import { isFileId } from './storage-key'

export type FileRow = typeof files.$inferSelect

/**
 * A file of one of the tenant's runs, with its bytes. It becomes unreadable when the run is deleted, even before the
 * sweep removes it.
 * @throws AppError FILE_NOT_FOUND for an unknown or malformed id and for another tenant's file; UNAVAILABLE
 */
export async function readFile(
  ctx: ServiceContext,
  { fileId }: { fileId: string },
): Promise<{ file: FileRow; bytes: Buffer }> {
  authorize(ctx, 'file:read')
  const id = fileId.toLowerCase()
  if (!isFileId(id)) throw new AppError('FILE_NOT_FOUND')
  const [found] = await ctx.db
    .select({ file: files })
    .from(files)
    .innerJoin(runs, and(eq(runs.tenantId, files.tenantId), eq(runs.id, files.runId)))
    .where(and(eq(files.tenantId, ctx.tenantId), eq(files.id, id), isNull(files.condemnedAt), filesInReach(ctx)))
  if (!found) throw new AppError('FILE_NOT_FOUND')
  const bytes = await fileStorage()
    .get(ctx.tenantId, id)
    .catch((cause: unknown) => {
      throw new AppError('UNAVAILABLE', { cause, headers: { 'retry-after': '5' } })
    })
  if (bytes?.byteLength !== found.file.size) {
    // Another process may have them, if they do not share a folder.
    await requireSharedStore(ctx.db, ctx.log)
    ctx.log.error({ fileId: id, stored: bytes?.byteLength ?? null, size: found.file.size }, 'stored bytes are missing')
    throw new AppError('FILE_NOT_FOUND')
  }
  return { file: found.file, bytes }
}
