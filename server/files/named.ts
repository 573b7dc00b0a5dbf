import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { runs } from '@/db/schema/runs'
import { filesInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { filesOf } from '../definition/file-fields'
import { type JsonObject, own } from '../definition/json'
import type { Fields } from '../definition/schema'
import { AppError } from '../errors'
import { ownUploads } from './direct/find'

interface Options {
  /** The prefix of a field's name in the path of a detail. */
  at?: string
  /** Existing values: their files must be stored, but may be outside the caller's reach. */
  kept?: JsonObject
  /** The files that are stored together with the values. */
  staged?: readonly string[]
  /** Gets the caller's own uploads that the values name: the caller gives them to the run. Without it, they are refused. */
  uploads?: string[]
}

/**
 * Makes sure that each field for files names files of a run which the caller may read, or, if its value is the field's
 * default or unchanged, a stored file. Costs nothing without files.
 * @throws AppError INVALID_INPUT with one detail per field, the same for unknown files and those out of reach
 */
export async function requireFiles(
  ctx: ServiceContext,
  fields: Fields,
  data: JsonObject,
  { at = '', kept = {}, staged = [], uploads }: Options = {},
): Promise<void> {
  const named = Object.entries(fields).flatMap(([name, field]) => {
    const known = [...filesOf(field, field.default), ...filesOf(field, own(kept, name))]
    const ids = filesOf(field, own(data, name)).filter((id) => !staged.includes(id))
    return ids.map((id) => ({ name, id, isGiven: !known.includes(id) }))
  })
  if (named.length === 0) return
  const found = await storedFiles(ctx, [...new Set(named.map(({ id }) => id))])
  const unknown = named.filter(({ id, isGiven }) => !found.has(id) || (isGiven && !found.get(id)))
  const ids = unknown.map(({ id }) => id)
  const uploaded = uploads ? await ownUploads(ctx, ids) : new Set<string>()
  uploads?.push(...uploaded)
  const refused = unknown.filter(({ id }) => !uploaded.has(id))
  const details = [...new Set(refused.map(({ name }) => name))].map((name) => {
    const what = fields[name]?.type === 'file' ? 'the id of a stored file' : 'a list of ids of stored files'
    return { path: `${at}${name}`, message: `${name} must be ${what} that you may read` }
  })
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
}

/** Whether each of the stored files is within the caller's reach. */
async function storedFiles(ctx: ServiceContext, ids: string[]): Promise<Map<string, boolean>> {
  const rows = await ctx.db
    .select({ id: files.id, within: sql<boolean>`${filesInReach(ctx) ?? sql`true`}` })
    .from(files)
    .innerJoin(runs, and(eq(runs.tenantId, files.tenantId), eq(runs.id, files.runId)))
    .where(and(eq(files.tenantId, ctx.tenantId), inArray(files.id, ids), isNull(files.condemnedAt)))
  return new Map(rows.map(({ id, within }) => [id, within]))
}
