import { and, eq } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import { removeFiles } from '../sweep'
import { findUpload, open } from './find'

/**
 * Cancels an upload of the caller, complete or not, that nothing has yet, and makes room for another. The sweep deletes
 * bytes that arrive later.
 * @throws AppError FORBIDDEN; FILE_NOT_FOUND, also if a run or a thread has the file
 */
export async function cancelUpload(
  ctx: ServiceContext,
  { fileId }: { fileId: string },
): Promise<{ id: string; deleted: true }> {
  authorize(ctx, 'file:upload')
  const file = await findUpload(ctx, fileId)
  const [given] = file
    ? await ctx.db
        .update(files)
        .set({ condemnedAt: ctx.now() })
        .where(and(eq(files.tenantId, ctx.tenantId), eq(files.id, file.id), open))
        .returning({ id: files.id })
    : []
  if (!given) throw new AppError('FILE_NOT_FOUND')
  await removeFiles(ctx, [given.id], () => false)
  return { id: given.id, deleted: true }
}
