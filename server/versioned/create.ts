import { record } from '../audit/record'
import type { TransactionContext } from '../context'
import { ImpossibleState } from '../errors'
import { draftColumns } from './columns'
import type { Named, Noun, Row, VersionRow } from './noun'
import { ownRow, refuseProblems } from './rows'

/**
 * Writes a new draft and its first version.
 * @param carriedOver columns to copy; a `version` other than 1 is for the id of a deleted object that has left versions
 * @param clonedFrom the id of the original
 * @throws AppError INVALID_INPUT with the noun's `problems`
 */
export async function create<R extends Row, V extends VersionRow, C extends Named, W>(
  tx: TransactionContext,
  noun: Noun<R, V, C, W>,
  id: string,
  content: C,
  carriedOver: Partial<R> = {},
  clonedFrom: string | null = null,
): Promise<W> {
  await refuseProblems(tx, noun, content)
  const draft = draftColumns(tx, carriedOver.version)
  const { name, description } = content
  const [row] = await tx.db
    .insert(noun.table)
    .values({ ...carriedOver, ...draft, id, name, description })
    .returning()
  if (!row) throw new ImpossibleState(`${noun.word}-insert`, 'an insert returned no row')
  const { tenantId, version, createdBy, createdAt } = draft
  await noun.insertVersion(tx, { tenantId, id, version, name, createdBy, createdAt }, content)
  if (clonedFrom === null) await record(tx, `${noun.word}.created`, { id, name })
  else await record(tx, `${noun.word}.cloned`, { id, name }, { from: clonedFrom })
  return noun.present(ownRow(noun, row), content)
}
