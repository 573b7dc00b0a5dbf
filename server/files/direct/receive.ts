import { and, eq, gt } from 'drizzle-orm'
import { processWide } from '@/db/process-wide'
import { files } from '@/db/schema/files'
import { countRefusal } from '../../auth/limits'
import type { Visitor } from '../../auth/visitor'
import { AppError } from '../../errors'
import { chunksOf } from '../../http/body'
import { countAttempt } from '../../http/rate-limit'
import { streamOf } from '../../http/sent-request'
import { unstalled } from '../../http/streams'
import { readToken } from '../../signed-token'
import { reserveTenantSlot } from '../../tenant-slots'
import type { Received } from '../file-storage'
import type { FileRow } from '../find'
import { requireSharedStore } from '../shared-store'
import { fileStorage } from '../storage'
import { INCOMPLETE, isOfForm, open } from './find'
import { RECEIVING, RECEIVING_FORM, RECEIVING_FORMS, UPLOAD_MS } from './limits'
import { UPLOAD_TOKEN, UPLOAD_TOKEN_HEADER } from './token'

/**
 * Takes the bytes of an upload, once, as they arrive. The file still has to be completed.
 * @throws AppError FILE_NOT_FOUND, also for a wrong token; CONFLICT, INVALID_INPUT, RATE_LIMITED, UNAVAILABLE
 */
export async function receiveUpload(
  visitor: Visitor,
  { fileId, chunks }: { fileId: string; chunks: () => AsyncIterable<Uint8Array> },
): Promise<{ id: string; size: number }> {
  const { db, headers, log, now } = visitor
  const claims = await readToken(UPLOAD_TOKEN, headers.get(UPLOAD_TOKEN_HEADER) ?? '')
  if (claims?.id !== fileId) {
    await countRefusal('links', headers, db, now())
    throw new AppError('FILE_NOT_FOUND')
  }
  const { tenantId } = claims
  const since = new Date(now().getTime() - UPLOAD_MS)
  const [file] = await db
    .select({ size: files.size, sha256: files.sha256, uploadedBy: files.uploadedBy })
    .from(files)
    .where(and(eq(files.tenantId, tenantId), eq(files.id, fileId), gt(files.createdAt, since), open))
  const { receive } = fileStorage()
  if (!file || !receive) throw new AppError('FILE_NOT_FOUND')
  if (file.sha256 !== INCOMPLETE) throw taken()
  requireLength(headers, file.size)
  // The token works many times, and each time its bytes are written.
  await countAttempt(`upload:${fileId}`, db, now(), { what: 'uploads of a file' })
  return alone(fileId, async () => {
    const release = reservePlace(tenantId, file)
    try {
      await requireSharedStore(db, log)
      const received = await receive(tenantId, fileId, whole(chunks()), file.size).catch(refusal)
      if (received === 'taken') throw taken()
      if (received === 'other size') throw otherSize(file.size)
      return { id: fileId, size: file.size }
    } finally {
      release()
    }
  })
}

/** @throws AppError CONFLICT while this process takes bytes of the same file */
async function alone<T>(fileId: string, work: () => Promise<T>): Promise<T> {
  const all = processWide('uploads under way', () => new Set<string>())
  if (all.has(fileId)) throw taken()
  all.add(fileId)
  try {
    return await work()
  } finally {
    all.delete(fileId)
  }
}

/** Visitors of start links take places of their own. @throws AppError UNAVAILABLE */
function reservePlace(tenantId: string, file: Pick<FileRow, 'uploadedBy'>): () => void {
  if (!isOfForm(file)) return reserveTenantSlot(RECEIVING, tenantId)
  const atAddress = reserveTenantSlot(RECEIVING_FORM, file.uploadedBy ?? '')
  try {
    const ofAll = reserveTenantSlot(RECEIVING_FORMS, tenantId)
    return () => {
      ofAll()
      atAddress()
    }
  } catch (err) {
    atAddress()
    throw err
  }
}

/** Before anything is read, where the caller says how much follows. @throws AppError INVALID_INPUT */
function requireLength(headers: Headers, size: number): void {
  const declared = headers.get('content-length')
  if (declared !== null && Number(declared) !== size) throw otherSize(size)
}

/** @throws AppError INVALID_INPUT when the caller hangs up, or sends nothing more */
async function* whole(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunksOf(unstalled(streamOf(chunks)))
  } catch (cause) {
    throw new AppError('INVALID_INPUT', { details: [{ message: 'The body ended early.' }], cause })
  }
}

/** @throws AppError UNAVAILABLE if the storage fails */
function refusal(cause: unknown): Received {
  if (cause instanceof AppError) throw cause
  throw new AppError('UNAVAILABLE', { cause, headers: { 'retry-after': '5' } })
}

function taken(): AppError {
  return new AppError('CONFLICT', { message: 'The bytes of this file were sent already, or are being sent' })
}

function otherSize(size: number): AppError {
  return new AppError('INVALID_INPUT', { details: [{ message: `The file must have exactly ${size} bytes.` }] })
}
