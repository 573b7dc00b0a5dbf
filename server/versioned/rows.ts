import { and, eq } from 'drizzle-orm'
import { rowsInReach } from '../auth/reach'
import type { ServiceContext, TransactionContext } from '../context'
import { AppError, ImpossibleState } from '../errors'
import { isId } from '../ids'
import type { Named, Noun, Row, VersionRow } from './noun'
import { resolveVersion } from './versions'

/** A noun's rows, whatever their content. */
export type Tables<R extends Row, V extends VersionRow = VersionRow> = Noun<R, V, Named, unknown>

/**
 * The row, optionally locked.
 * @throws AppError the noun's `notFound`, also for another tenant's row
 */
export async function findRow<R extends Row>(
  ctx: ServiceContext,
  noun: Tables<R>,
  id: string,
  options: { lock?: boolean } = {},
): Promise<R> {
  if (!isId(id)) throw new AppError(noun.notFound)
  const query = ctx.db
    .select()
    .from(noun.table)
    .where(rowIs(ctx, noun, id))
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError(noun.notFound)
  return ownRow(noun, row)
}

/**
 * Finds a version by number, `latest` or `published`.
 * @throws AppError the noun's `notFound`
 */
export async function findVersion<R extends Row, V extends VersionRow>(
  ctx: ServiceContext,
  noun: Tables<R, V>,
  row: R,
  wanted: string | number,
): Promise<V> {
  const version = resolveVersion(wanted, row)
  const [found] =
    version === null
      ? []
      : await ctx.db
          .select()
          .from(noun.versions)
          .where(versionIs(ctx, noun, row.id, version))
  if (!found) throw noVersion(noun)
  return ownVersion(noun, found)
}

export function noVersion({ notFound, noSuchVersion: message }: Pick<Tables<Row>, 'notFound' | 'noSuchVersion'>) {
  return new AppError(notFound, message === undefined ? {} : { details: [{ path: 'version', message }] })
}

/**
 * The latest saved content of a locked row.
 * @throws AppError the noun's `notFound`
 */
export async function findContent<R extends Row, V extends VersionRow, C extends Named>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, unknown>,
  row: R,
): Promise<C> {
  return noun.contentOf(await findVersion(ctx, noun, row, row.version))
}

/** Changes a locked row. `doing` names the change in error reports. */
export async function changeRow<R extends Row>(
  tx: TransactionContext,
  noun: Tables<R>,
  id: string,
  change: Partial<Row>,
  doing: string,
): Promise<R> {
  const [changed] = await tx.db
    .update(noun.table)
    .set(change)
    .where(rowIs(tx, noun, id))
    .returning()
  if (!changed) throw new ImpossibleState(`${noun.word}-${doing}`, 'a locked row was not updated')
  return ownRow(noun, changed)
}

/** @throws AppError INVALID_INPUT with the noun's `problems` */
export async function refuseProblems<C extends Named>(
  ctx: ServiceContext,
  noun: Pick<Noun<Row, VersionRow, C, unknown>, 'problems'>,
  content: C,
): Promise<void> {
  const details = (await noun.problems?.(ctx, content)) ?? []
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
}

/** The condition that matches one row, if the caller may touch it. */
export function rowIs(ctx: ServiceContext, { table, word }: Pick<Tables<Row>, 'table' | 'word'>, id: string) {
  return and(eq(table.tenantId, ctx.tenantId), eq(table.id, id), rowsInReach(ctx, word, table.id))
}

/** The condition that matches one version. */
export function versionIs(
  ctx: ServiceContext,
  { versions, ownerId }: Pick<Tables<Row>, 'versions' | 'ownerId'>,
  id: string,
  version: number,
) {
  return and(eq(versions.tenantId, ctx.tenantId), eq(ownerId, id), eq(versions.version, version))
}

// Casts a row to the noun's own type: Drizzle sees a row of one of three tables and does not know which.
export function ownRow<R extends Row>(_noun: Tables<R>, row: Row): R {
  return row as R
}

export function ownVersion<V extends VersionRow>(_noun: Tables<Row, V>, version: VersionRow): V {
  return version as V
}
