import { createHash, randomUUID } from 'node:crypto'
import { and, eq, inArray, isNotNull, isNull } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import type { ServiceContext, TransactionContext } from '../context'
import { AppError, ImpossibleState } from '../errors'
import type { Upload, Uploaded } from '../http/multipart-input'
import { requireUploads, uploaderAlone } from './direct/find'
import { requireRoom } from './direct/room'
import { holdFileStore } from './shared-store'
import { sniffType } from './sniff'
import { fileStorage } from './storage'

export function newFileId(): string {
  return randomUUID()
}

/** An upload under the id it gets, or one that its sender uploaded before. */
export interface Staged {
  id: string
  upload: Upload | Uploaded
}

/** The id under which a file is stored. */
export function idOf(upload: Upload | Uploaded): string {
  return 'uploaded' in upload ? upload.uploaded : newFileId()
}

/**
 * Stores uploads before any run owns them: first their rows, then their bytes, so the sweep finds everything a crash
 * leaves. Then does `work`, whose transaction must claim the files; if that fails, they are removed. Files that were
 * uploaded before must be the caller's own, and stay for another try.
 * @throws AppError INVALID_INPUT; UNAVAILABLE if the storage does not accept it, or is not the one of the other processes
 */
export async function withStagedFiles<T>(
  ctx: ServiceContext,
  staged: readonly Staged[],
  work: () => Promise<T>,
): Promise<T> {
  if ('afterCommit' in ctx) throw new ImpossibleState('stage-in-transaction', 'bytes cannot be rolled back')
  const uploaded = staged.filter(({ upload }) => 'uploaded' in upload).map(({ id }) => id)
  if (uploaded.length > 0) await requireUploads(ctx, uploaded)
  return withBytes(
    ctx,
    staged.flatMap(({ id, upload }) => ('bytes' in upload ? [{ id, upload }] : [])),
    work,
  )
}

/**
 * Stores uploads, and removes them if `work` fails.
 * @param work gets their rows
 * @param by the caller whose uploads they are until something takes them; null if `work` claims them
 * @throws AppError CONFLICT if that caller has too many; UNAVAILABLE
 */
export async function withBytes<T>(
  ctx: ServiceContext,
  staged: readonly { id: string; upload: Upload }[],
  work: (rows: NewFile[]) => Promise<T>,
  by: string | null = null,
): Promise<T> {
  const rows = staged.map((one) => rowOf(ctx, one, by))
  if (rows.length === 0) return work(rows)
  const storage = fileStorage()
  // Not `withTransaction`: in a start with an idempotency key, it would be the transaction that stores the answer.
  await ctx.db.transaction(async (tx) => {
    await holdFileStore(tx, ctx.log)
    if (by !== null) await requireRoom({ ...ctx, db: tx }, by)
    await tx.insert(files).values(rows)
  })
  try {
    for (const { id, upload } of staged) {
      await storage.put(ctx.tenantId, id, upload.bytes).catch((cause: unknown) => {
        throw new AppError('UNAVAILABLE', { cause, headers: { 'retry-after': '5' } })
      })
    }
    return await work(rows)
  } catch (err) {
    for (const { id } of staged) {
      await discard(ctx, id).catch((cause: unknown) =>
        ctx.log.warn({ err: cause, fileId: id }, 'an unused upload stays until the sweep'),
      )
    }
    throw err
  }
}

type NewFile = typeof files.$inferInsert

function rowOf({ tenantId, now }: ServiceContext, { id, upload }: { id: string; upload: Upload }, by: string | null) {
  const { name, type: declaredType, bytes } = upload
  return {
    ...{ tenantId, id, name: storableName(name), declaredType, sniffedType: sniffType(bytes), size: bytes.byteLength },
    ...{ sha256: createHash('sha256').update(bytes).digest('hex'), createdAt: now(), uploadedBy: by },
  }
}

const TAKEN = 'An uploaded file already belongs to a run or a message. Choose it again to send it once more'
const REMOVED = 'An uploaded file was removed. Choose it again'

/** Gives staged files to a run, in the transaction that creates the run. */
export async function claimFiles(tx: TransactionContext, ids: readonly string[], runId: string): Promise<void> {
  if (ids.length === 0) return
  const these = inArray(files.id, [...ids])
  const claimed = await tx.db
    .update(files)
    .set({ runId, claimedAt: tx.now(), uploadedBy: uploaderAlone })
    .where(and(eq(files.tenantId, tx.tenantId), these, isNull(files.claimedAt), isNull(files.condemnedAt)))
    .returning({ id: files.id })
  if (claimed.length === ids.length) return
  const there = new Set(claimed.map(({ id }) => id))
  const missing = inArray(
    files.id,
    ids.filter((id) => !there.has(id)),
  )
  const uploaded = await tx.db
    .select({ claimedAt: files.claimedAt })
    .from(files)
    .where(and(eq(files.tenantId, tx.tenantId), missing, isNotNull(files.uploadedBy)))
  const isTaken = uploaded.some(({ claimedAt }) => claimedAt !== null)
  if (uploaded.length + there.size === ids.length)
    throw new AppError('CONFLICT', { message: isTaken ? TAKEN : REMOVED })
  throw new ImpossibleState('claim-file', `a staged file of ${runId} is not there`)
}

/**
 * Removes an unclaimed file. The row decides whether it was claimed, not the error: a commit whose response was lost
 * has claimed it. The statement waits until that transaction ends.
 */
async function discard(ctx: ServiceContext, fileId: string): Promise<void> {
  const mine = and(eq(files.tenantId, ctx.tenantId), eq(files.id, fileId))
  const condemned = await ctx.db
    .update(files)
    .set({ condemnedAt: ctx.now() })
    .where(and(mine, isNull(files.claimedAt)))
    .returning({ id: files.id })
  if (condemned.length === 0) return
  await fileStorage().delete(ctx.tenantId, fileId)
  await ctx.db.delete(files).where(mine)
}

/** Postgres texts cannot hold NUL, but a percent-encoded name may. */
export function storableName(name: string): string {
  return name.replaceAll('\u0000', '\uFFFD')
}
