import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { type FileRow, findFiles } from './find'
import { requireSharedStore } from './shared-store'
import { fileStorage } from './storage'

export type { FileRow }

/**
 * A file of one of the tenant's runs, with its bytes.
 * @throws AppError FILE_NOT_FOUND for an unknown or malformed id and for another tenant's file; UNAVAILABLE
 */
export async function readFile(
  ctx: ServiceContext,
  { fileId }: { fileId: string },
): Promise<{ file: FileRow; bytes: Buffer }> {
  authorize(ctx, 'file:read')
  const [file] = await findFiles(ctx, [fileId])
  if (!file) throw new AppError('FILE_NOT_FOUND')
  const bytes = await fileStorage()
    .get(ctx.tenantId, file.id)
    .catch((cause: unknown) => {
      throw new AppError('UNAVAILABLE', { cause, headers: { 'retry-after': '5' } })
    })
  if (bytes?.byteLength !== file.size) {
    // Another process may have them, if they do not share a folder.
    await requireSharedStore(ctx.db, ctx.log)
    ctx.log.error({ fileId: file.id, stored: bytes?.byteLength ?? null, size: file.size }, 'stored bytes are missing')
    throw new AppError('FILE_NOT_FOUND')
  }
  return { file, bytes }
}
