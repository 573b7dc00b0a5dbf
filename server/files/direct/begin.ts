import { randomUUID } from 'node:crypto'
import { files } from '@/db/schema/files'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { AppError } from '../../errors'
import { parseInput } from '../../parse'
import { signToken } from '../../signed-token'
import type { UploadGrant } from '../file-storage'
import { holdFileStore } from '../shared-store'
import { UNKNOWN } from '../sniff'
import { storableName } from '../stage'
import { fileStorage } from '../storage'
import { INCOMPLETE, uploaderAt, uploaderOf } from './find'
import { directLimit, UPLOAD_MS } from './limits'
import { requireRoom } from './room'
import { BeginUpload } from './schema'
import { UPLOAD_TOKEN, UPLOAD_TOKEN_HEADER } from './token'

/** Where the bytes of a file go: to the service itself, or to its Vercel Blob store with that store's SDK. */
export interface BegunUpload {
  id: string
  expiresAt: string
  put: { url: string; headers: Record<string, string> } | null
  blob: UploadGrant | null
}

/**
 * Begins to upload a file that is too large for a form, or that its caller has before they start a run or send a message. The file counts
 * once `completeUpload` has seen its bytes, belongs to its caller alone until a run or a thread takes it, and is removed after an
 * hour otherwise.
 * @param input.origin where the caller reaches the service
 * @param input.address of a visitor of a start link
 * @throws AppError FORBIDDEN, INVALID_INPUT, FILE_TOO_LARGE, CONFLICT, UNAVAILABLE
 */
export async function beginUpload(
  ctx: ServiceContext,
  input: { body: unknown; origin: string; address?: string },
): Promise<BegunUpload> {
  authorize(ctx, 'file:upload')
  const { name, type, size } = parseInput(BeginUpload, input.body)
  requireSize(size)
  const storage = fileStorage()
  const id = randomUUID()
  const { tenantId } = ctx
  const by = input.address === undefined ? uploaderOf(ctx) : uploaderAt(ctx, input.address)
  const until = new Date(ctx.now().getTime() + UPLOAD_MS)
  await withTransaction(ctx, async (tx) => {
    await holdFileStore(tx.db, tx.log)
    await requireRoom(tx, by)
    await tx.db.insert(files).values({
      ...{ tenantId, id, name: storableName(name), declaredType: type, size, createdAt: tx.now() },
      ...{ sniffedType: UNKNOWN, sha256: INCOMPLETE, uploadedBy: by },
    })
  })
  const begun = { id, expiresAt: until.toISOString() }
  if (storage.grant) return { ...begun, put: null, blob: await storage.grant(tenantId, id, { size, type, until }) }
  const headers = { [UPLOAD_TOKEN_HEADER]: await signToken(UPLOAD_TOKEN, { tenantId, id }) }
  return { ...begun, put: { url: `${input.origin}/api/files/${id}/content`, headers }, blob: null }
}

/** @throws AppError CONFLICT if this service takes no such files; FILE_TOO_LARGE */
function requireSize(size: number): void {
  const limit = directLimit()
  if (limit === null) throw new AppError('CONFLICT', { message: 'This service accepts files only as part of a form' })
  if (size <= limit) return
  throw new AppError('FILE_TOO_LARGE', {
    details: [{ path: 'size', message: `A file may have at most ${limit} bytes.` }],
  })
}
