import { record } from '../audit/record'
import { type ServiceContext, withTransaction } from '../context'
import { type ArchiveTo, archiveColumns } from './columns'
import type { Named, Noun, One, Row, VersionRow } from './noun'
import { changeRow, findContent, findRow } from './rows'

/**
 * Archives or unarchives; does nothing if it already is.
 * @throws AppError the noun's `notFound`
 */
export async function archive<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, W>,
  { id }: One,
  to: ArchiveTo,
): Promise<W> {
  return withTransaction(ctx, async (tx) => {
    const row = await findRow(tx, noun, id, { lock: true })
    const content = await findContent(tx, noun, row)
    const change = archiveColumns(tx, row, to)
    if (!change) return noun.present(row, content)
    const changed = await changeRow(tx, noun, id, change, 'archive')
    await record(tx, `${noun.word}.${to === 'archived' ? 'archived' : 'unarchived'}`, row)
    return noun.present(changed, content)
  })
}
