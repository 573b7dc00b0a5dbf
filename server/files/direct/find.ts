import { createHash } from 'node:crypto'
import { and, eq, inArray, isNotNull, isNull, ne } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import type { FileRow } from '../find'
import { isFileId } from '../storage-key'

/** The caller who uploads a file, and who alone may use it until a run has it. A hash, because rows outlive subjects. */
export function uploaderOf({ actor }: Pick<ServiceContext, 'actor'>): string {
  const by = actor.kind === 'jwt' ? `${actor.secretId} ${actor.id}` : actor.id
  return createHash('sha256').update(`${actor.kind} ${by}`).digest('base64url')
}

/** What a file has no hash of until its bytes are there and checked. */
export const INCOMPLETE = ''

/** Uploads that no run has yet. */
export const open = and(isNotNull(files.uploadedBy), isNull(files.claimedAt), isNull(files.condemnedAt))

/** The caller's own upload, complete or not, that no run has yet; null for any other file. */
export async function findUpload(ctx: ServiceContext, fileId: string): Promise<FileRow | null> {
  if (!isFileId(fileId)) return null
  const [row] = await ctx.db
    .select()
    .from(files)
    .where(and(eq(files.tenantId, ctx.tenantId), eq(files.id, fileId), eq(files.uploadedBy, uploaderOf(ctx)), open))
  return row ?? null
}

/** Those of the ids that name the caller's own complete uploads. */
export async function ownUploads(ctx: ServiceContext, ids: readonly string[]): Promise<Set<string>> {
  const known = [...new Set(ids)].filter(isFileId)
  if (known.length === 0) return new Set()
  const own = eq(files.uploadedBy, uploaderOf(ctx))
  const rows = await ctx.db
    .select({ id: files.id })
    .from(files)
    .where(and(eq(files.tenantId, ctx.tenantId), inArray(files.id, known), own, ne(files.sha256, INCOMPLETE), open))
  return new Set(rows.map(({ id }) => id))
}

/** @throws AppError INVALID_INPUT unless all ids name the caller's own complete uploads */
export async function requireUploads(ctx: ServiceContext, ids: readonly string[]): Promise<void> {
  const own = await ownUploads(ctx, ids)
  if (ids.every((id) => own.has(id)) && own.size === ids.length) return
  const message =
    'A file was not uploaded completely, or was removed because no run had it for an hour. Choose it again.'
  throw new AppError('INVALID_INPUT', { details: [{ path: 'files', message }] })
}
