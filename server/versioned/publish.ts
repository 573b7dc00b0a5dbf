import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { publishColumns } from './columns'
import { expectVersion, readIfMatch } from './expected-version'
import type { Guarded, Named, Noun, Row, VersionRow } from './noun'
import { changeRow, findContent, findRow, refuseProblems, versionIs } from './rows'

/** The version to publish; `live` when it is already published, so publishing changes nothing. */
export interface Candidate<C> {
  id: string
  content: C
  live: boolean
}

/**
 * Makes the latest saved version the one `published` means. Publishing it again without a change does nothing.
 * @param check throws to refuse the version; what it returns is added to the answer
 * @throws AppError the noun's `notFound` or `archived`, VERSION_CONFLICT, INVALID_INPUT, and what `check` throws
 */
export async function publish<R extends Row, V extends VersionRow, C extends Named, W, Report extends object>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, W>,
  input: Guarded,
  check: (tx: TransactionContext, candidate: Candidate<C>) => Promise<Report>,
): Promise<W & Report> {
  const ifMatch = readIfMatch(input.ifMatch)
  return withTransaction(ctx, async (tx) => {
    const row = await findRow(tx, noun, input.id, { lock: true })
    if (row.status === 'archived') throw new AppError(noun.archived)
    expectVersion(row, { ifMatch })
    const { id, version } = row
    const content = await findContent(tx, noun, row)
    const live = row.status === 'published' && row.publishedVersion === version
    // What is already live stays live, whatever has changed since.
    if (!live) await refuseProblems(tx, noun, content)
    const report = await check(tx, { id, content, live })
    if (live) return { ...noun.present(row, content), ...report }
    const change = publishColumns(tx, version)
    const published = await changeRow(tx, noun, id, change, 'publish')
    await tx.db
      .update(noun.versions)
      .set({ publishedAt: change.publishedAt })
      .where(versionIs(tx, noun, id, version))
    return { ...noun.present(published, content), ...report }
  })
}
