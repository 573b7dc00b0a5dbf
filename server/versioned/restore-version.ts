import { record } from '../audit/record'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { expectVersion, readIfMatch } from './expected-version'
import type { Guarded, Named, Noun, OneVersion, Row, VersionRow } from './noun'
import { findContent, findRow, findVersion } from './rows'
import { saveVersion } from './update'

/**
 * Saves an earlier version's content as the next version without publishing it. Restoring the current content does
 * nothing.
 * @throws AppError the noun's `notFound` or `archived`, VERSION_CONFLICT, INVALID_INPUT
 */
export async function restoreVersion<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, W>,
  input: Guarded & OneVersion,
): Promise<W> {
  const ifMatch = readIfMatch(input.ifMatch)
  return withTransaction(ctx, async (tx) => {
    const row = await findRow(tx, noun, input.id, { lock: true })
    const content = noun.contentOf(await findVersion(tx, noun, row, input.version))
    if (row.status === 'archived') throw new AppError(noun.archived)
    expectVersion(row, { ifMatch })
    if (noun.same(await findContent(tx, noun, row), content)) return noun.present(row, content)
    // Do not fold: the previous version is the one the caller may want back.
    const saved = await saveVersion(tx, noun, row, content, { folds: false })
    await record(tx, `${noun.word}.restored`, saved, { version: saved.version, from: input.version })
    return noun.present(saved, content)
  })
}
