import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { MAX_FILE_BYTES } from '../http/multipart-input'
import { streamOf } from '../http/sent-request'
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
  const file = await requireFile(ctx, fileId)
  const bytes = await fileStorage().get(ctx.tenantId, file.id).catch(unavailable)
  if (bytes?.byteLength !== file.size) throw await missing(ctx, file, bytes?.byteLength ?? null)
  return { file, bytes }
}

/**
 * As `readFile`, but a file larger than a form may have is not held: its bytes come as they are read. If they are not
 * all there, the stream breaks off.
 */
export async function openFile(
  ctx: ServiceContext,
  { fileId }: { fileId: string },
): Promise<{ file: FileRow; body: Buffer | ReadableStream<Uint8Array> }> {
  const file = await requireFile(ctx, fileId)
  const { read } = fileStorage()
  if (file.size <= MAX_FILE_BYTES || !read) {
    const { bytes } = await readFile(ctx, { fileId })
    return { file, body: bytes }
  }
  const chunks = await read(ctx.tenantId, file.id).catch(unavailable)
  if (!chunks) throw await missing(ctx, file, null)
  return { file, body: streamOf(whole(chunks, file.size)) }
}

async function requireFile(ctx: ServiceContext, fileId: string): Promise<FileRow> {
  authorize(ctx, 'file:read')
  const [file] = await findFiles(ctx, [fileId])
  if (!file) throw new AppError('FILE_NOT_FOUND')
  return file
}

function unavailable(cause: unknown): never {
  throw new AppError('UNAVAILABLE', { cause, headers: { 'retry-after': '5' } })
}

/** @throws AppError UNAVAILABLE if another process may have the bytes, because they do not share a folder */
async function missing(ctx: ServiceContext, { id, size }: FileRow, stored: number | null): Promise<AppError> {
  await requireSharedStore(ctx.db, ctx.log)
  ctx.log.error({ fileId: id, stored, size }, 'stored bytes are missing')
  return new AppError('FILE_NOT_FOUND')
}

async function* whole(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let left = size
  for await (const chunk of chunks) {
    left -= chunk.byteLength
    yield chunk
  }
  if (left !== 0) throw new Error(`a stored file has ${size - left} bytes instead of ${size}`)
}
