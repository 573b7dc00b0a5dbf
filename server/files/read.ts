import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { chunksOf } from '../http/body'
import { exactly } from '../http/streams'
import { type FileRow, findFiles } from './find'
import { requireSharedStore } from './shared-store'
import { fileStorage } from './storage'

export type { FileRow }

/**
 * A file of one of the tenant's runs or threads.
 * @throws AppError FILE_NOT_FOUND for an unknown or malformed id and for another tenant's file
 */
export async function findFile(ctx: ServiceContext, { fileId }: { fileId: string }): Promise<FileRow> {
  authorize(ctx, 'file:read')
  const [file] = await findFiles(ctx, [fileId])
  if (!file) throw new AppError('FILE_NOT_FOUND')
  return file
}

/**
 * The first bytes of a file, or all if it has no more. Only these are held.
 * @throws AppError FILE_NOT_FOUND if the stored bytes are missing or damaged; UNAVAILABLE
 */
export async function readStart(ctx: ServiceContext, file: FileRow, atMost: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const enough = Math.min(file.size + 1, atMost)
  let size = 0
  try {
    for await (const chunk of chunksOf(await open(ctx, file))) {
      chunks.push(chunk)
      size += chunk.byteLength
      if (size >= enough) break
    }
  } catch (err) {
    unavailable(err)
  }
  const isThere = atMost > file.size ? size === file.size : size >= atMost
  if (!isThere) throw await missing(ctx, file, size)
  return Buffer.concat(chunks).subarray(0, atMost)
}

/**
 * The bytes of a file as they are read. If they are not all there, the stream breaks off.
 * @throws AppError FILE_NOT_FOUND, UNAVAILABLE
 */
export async function streamFile(ctx: ServiceContext, file: FileRow): Promise<ReadableStream<Uint8Array>> {
  return exactly(await open(ctx, file).catch(unavailable), file.size)
}

async function open(ctx: ServiceContext, file: FileRow): Promise<ReadableStream<Uint8Array>> {
  const stream = await fileStorage().read(ctx.tenantId, file.id)
  if (!stream) throw await missing(ctx, file, null)
  return stream
}

/** @throws AppError */
function unavailable(cause: unknown): never {
  if (cause instanceof AppError) throw cause
  throw new AppError('UNAVAILABLE', { cause, headers: { 'retry-after': '5' } })
}

/** @throws AppError UNAVAILABLE if another process may have the bytes, because they do not share a folder */
async function missing(ctx: ServiceContext, { id, size }: FileRow, stored: number | null): Promise<AppError> {
  await requireSharedStore(ctx.db, ctx.log)
  ctx.log.error({ fileId: id, stored, size }, 'stored bytes are missing')
  return new AppError('FILE_NOT_FOUND')
}
