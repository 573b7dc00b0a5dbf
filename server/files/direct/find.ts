import { createHash } from 'node:crypto'
import { and, eq, inArray, isNotNull, isNull, like, ne, type SQL, sql } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import type { FileRow } from '../find'
import { isFileId } from '../storage-key'

/** The caller who uploads a file, and who alone may use it until a run has it. A hash, because rows outlive subjects. */
export function uploaderOf({ actor }: Pick<ServiceContext, 'actor'>): string {
  const by = actor.kind === 'jwt' ? `${actor.secretId} ${actor.id}` : actor.id
  return hashOf(`${actor.kind} ${by}`)
}

/**
 * A visitor of a start link. Every form of the link may use the upload, so the visitor's address may change, but each
 * address has places of its own. The address is hashed too, and is dropped once a run has the file.
 */
export function uploaderAt(ctx: Pick<ServiceContext, 'actor'>, address: string): string {
  const uploader = uploaderOf(ctx)
  return `${uploader} ${hashOf(`${uploader} ${address}`)}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** What a run keeps of who uploaded a file. */
export const uploaderAlone = sql<string | null>`split_part(${files.uploadedBy}, ' ', 1)`

/** Uploads of this caller, from any address. */
export function uploadedBy(ctx: Pick<ServiceContext, 'actor'>): SQL {
  return eq(uploaderAlone, uploaderOf(ctx))
}

/** Uploads of the visitors of all start links. */
export const ofForms = like(files.uploadedBy, '% %')

export function isOfForm({ uploadedBy }: Pick<FileRow, 'uploadedBy'>): boolean {
  return uploadedBy?.includes(' ') ?? false
}

/** What a file has no hash of until its bytes are there and checked. */
export const INCOMPLETE = ''

/** Uploads that nothing has taken yet, with and without the deleted ones. */
export const unclaimed = and(isNotNull(files.uploadedBy), isNull(files.claimedAt))
export const open = and(unclaimed, isNull(files.condemnedAt))

/** The caller's own upload, complete or not, that nothing has taken yet; null for any other file. */
export async function findUpload(ctx: ServiceContext, fileId: string): Promise<FileRow | null> {
  if (!isFileId(fileId)) return null
  const [row] = await ctx.db
    .select()
    .from(files)
    .where(and(eq(files.tenantId, ctx.tenantId), eq(files.id, fileId), uploadedBy(ctx), open))
  return row ?? null
}

/** Those of the ids that name the caller's own complete uploads. */
export async function ownUploads(ctx: ServiceContext, ids: readonly string[]): Promise<Set<string>> {
  return new Set((await findUploads(ctx, ids)).map(({ id }) => id))
}

/** The caller's own complete uploads with these ids. */
export async function findUploads(ctx: ServiceContext, ids: readonly string[]): Promise<FileRow[]> {
  const known = [...new Set(ids)].filter(isFileId)
  return known.length === 0 ? [] : ctx.db.select().from(files).where(areUploads(ctx, known))
}

/** Keeps them for another hour: a turn with them begins. */
export async function keepUploads(ctx: ServiceContext, ids: readonly string[]): Promise<void> {
  const known = ids.filter(isFileId)
  if (known.length > 0) await ctx.db.update(files).set({ createdAt: ctx.now() }).where(areUploads(ctx, known))
}

function areUploads(ctx: ServiceContext, ids: string[]) {
  const isThere = and(eq(files.tenantId, ctx.tenantId), inArray(files.id, ids), ne(files.sha256, INCOMPLETE))
  return and(isThere, uploadedBy(ctx), open)
}

/** @throws AppError INVALID_INPUT unless all ids name the caller's own complete uploads */
export async function requireUploads(ctx: ServiceContext, ids: readonly string[]): Promise<void> {
  const own = await ownUploads(ctx, ids)
  if (ids.every((id) => own.has(id)) && own.size === ids.length) return
  const isTaken = (await taken(ctx, ids)).length > 0
  const message = isTaken ? ALREADY_TAKEN : 'This file’s upload did not finish or has expired. Choose it again.'
  throw new AppError('INVALID_INPUT', { details: [{ path: 'files', message }] })
}

/** For a repeat that finds its file in a run or a thread. */
const ALREADY_TAKEN = 'This file already belongs to a run or a message. To send it once more, choose it again.'

/** The runs that have any of these uploads of the caller. */
export async function runsWith(ctx: ServiceContext, ids: readonly string[]): Promise<string[]> {
  return (await taken(ctx, ids)).flatMap(({ runId }) => runId ?? [])
}

/** The owners of these uploads of the caller: a run, or else a thread. */
async function taken(ctx: ServiceContext, ids: readonly string[]): Promise<{ runId: string | null }[]> {
  const known = ids.filter(isFileId)
  if (known.length === 0) return []
  return ctx.db
    .select({ runId: files.runId })
    .from(files)
    .where(and(eq(files.tenantId, ctx.tenantId), inArray(files.id, known), uploadedBy(ctx), isNotNull(files.claimedAt)))
}
