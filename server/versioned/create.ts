import type { ServiceContext } from '../context'
import { ImpossibleState } from '../errors'
import { draftColumns } from './columns'
import type { Named, Noun, Row, VersionRow } from './noun'
import { ownRow, refuseProblems } from './rows'

/**
 * Writes a new draft and its first version.
 * @param carriedOver columns to copy; a `version` other than 1 is for an id whose deleted object has left versions
 * @throws AppError INVALID_INPUT with the noun's `problems`
 */
export async function create<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, W>,
  id: string,
  content: C,
  carriedOver: Partial<R> = {},
): Promise<W> {
  await refuseProblems(ctx, noun, content)
  const draft = draftColumns(ctx, carriedOver.version)
  const { name, description } = content
  const [row] = await ctx.db
    .insert(noun.table)
    .values({ ...carriedOver, ...draft, id, name, description })
    .returning()
  if (!row) throw new ImpossibleState(`${noun.word}-insert`, 'an insert returned no row')
  const { tenantId, version, createdBy, createdAt } = draft
  await noun.insertVersion(ctx, { tenantId, id, version, name, createdBy, createdAt }, content)
  return noun.present(ownRow(noun, row), content)
}
