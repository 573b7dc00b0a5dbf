import { createHash } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { AppError } from '../../errors'
import { chunksOf } from '../../http/body'
import { reserveTenantSlot } from '../../tenant-slots'
import type { FileRow } from '../find'
import { holdFileStore } from '../shared-store'
import { Sniffer } from '../sniff'
import { fileStorage } from '../storage'
import { cancelUpload } from './cancel'
import { findUpload, INCOMPLETE, isOfForm, open } from './find'
import { COMPLETING, COMPLETING_FORMS } from './limits'

/** An upload whose bytes are stored. */
export interface CompleteUpload {
  id: string
  name: string
  type: string
  size: number
}

/**
 * Checks that the bytes of an upload are stored, all of them, and detects their type. From then on the caller may give
 * the file to a run or an agent. Completing it again changes nothing.
 * @throws AppError FORBIDDEN, FILE_NOT_FOUND; CONFLICT while no bytes are there; INVALID_INPUT; UNAVAILABLE
 */
export async function completeUpload(ctx: ServiceContext, { fileId }: { fileId: string }): Promise<CompleteUpload> {
  authorize(ctx, 'file:upload')
  const file = await findUpload(ctx, fileId)
  if (!file) throw new AppError('FILE_NOT_FOUND')
  if (file.sha256 !== INCOMPLETE) return presented(file)
  const slot = isOfForm(file) ? COMPLETING_FORMS : COMPLETING
  const release = reserveTenantSlot(slot, ctx.tenantId)
  try {
    return await check(ctx, file)
  } finally {
    release()
  }
}

async function check(ctx: ServiceContext, file: FileRow): Promise<CompleteUpload> {
  const { tenantId, id, size } = file
  const found = await inspect(file).catch((cause: unknown) => {
    throw new AppError('UNAVAILABLE', { cause, headers: { 'retry-after': '5' } })
  })
  if (!found) throw new AppError('CONFLICT', { message: 'The bytes of this file have not arrived yet' })
  if (found.size !== size) {
    await cancelUpload(ctx, { fileId: id })
    const message = `The file has ${found.size} bytes instead of ${size}.`
    throw new AppError('INVALID_INPUT', { details: [{ path: 'size', message }] })
  }
  const { sha256, type } = found
  const row = and(eq(files.tenantId, tenantId), eq(files.id, id), open)
  const done = await withTransaction(ctx, async (tx) => {
    // From here on, a move of the files to another storage takes it along.
    await holdFileStore(tx.db, tx.log)
    const [complete] = await tx.db.update(files).set({ sha256, sniffedType: type }).where(row).returning()
    return complete
  })
  if (!done) throw new AppError('FILE_NOT_FOUND')
  return presented(done)
}

/** Reads the stored bytes without holding them. Null if they have not arrived. */
async function inspect({ tenantId, id }: FileRow): Promise<{ size: number; sha256: string; type: string } | null> {
  const stream = await fileStorage().read(tenantId, id)
  if (!stream) return null
  const hash = createHash('sha256')
  const sniffer = new Sniffer()
  let size = 0
  for await (const chunk of chunksOf(stream)) {
    size += chunk.byteLength
    hash.update(chunk)
    sniffer.push(chunk)
  }
  return { size, sha256: hash.digest('hex'), type: sniffer.end() }
}

function presented({ id, name, sniffedType, size }: FileRow): CompleteUpload {
  return { id, name, type: sniffedType, size }
}
