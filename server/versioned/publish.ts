import { z } from 'zod'
import { record } from '../audit/record'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { publishColumns } from './columns'
import { expectVersion, readIfMatch } from './expected-version'
import type { Guarded, Named, Noun, Row, VersionRow } from './noun'
import { changeRow, findRow, findVersion, refuseProblems, versionIs } from './rows'
import { saveVersion } from './update'

/** A publisher's note about a version, for readers of its history. */
export type Note = string | null | undefined
const WithNote = z.object({ note: z.string().trim().max(500).nullish() })

/** The version to publish; `live` if it is already published. */
export interface Candidate<V, C> {
  id: string
  version: V
  content: C
  live: boolean
}

/** The result of checking a version that may be published. */
export interface Checked<V, Report> {
  /** Added to the answer. */
  report: Report
  /** The version's columns that publishing sets. */
  columns?: Partial<V>
  /**
   * Set if the version was published with other columns: a version never changes, so its content is published as the
   * next one.
   */
  renews?: boolean
}

/** Checks the version to publish; throws to reject it. */
export type Check<V, C, Report> = (tx: TransactionContext, candidate: Candidate<V, C>) => Promise<Checked<V, Report>>

/** Whether new callers get the latest saved version. */
export function isLive({ status, publishedVersion, version }: Row): boolean {
  return status === 'published' && publishedVersion === version
}

/**
 * The version that publishing makes the published one: the latest, or the next one if the latest was published with
 * other columns. Null if it is already published unchanged.
 * @param saved the latest version
 */
export function versionToPublish(row: Row, saved: Pick<VersionRow, 'publishedAt'>, renews: boolean): number | null {
  if (isLive(row) && !renews) return null
  return saved.publishedAt !== null && renews ? row.version + 1 : row.version
}

/**
 * Makes `published` mean the latest saved version. Publishing it again without a change does nothing.
 * @param check throws to reject the version
 * @throws AppError the noun's `notFound` or `archived`, VERSION_CONFLICT, INVALID_INPUT, and the errors of `check`
 */
export async function publish<R extends Row, V extends VersionRow, C extends Named, W, Report extends object>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, W>,
  input: Guarded & { note?: Note },
  check: Check<V, C, Report>,
): Promise<W & Report> {
  const ifMatch = readIfMatch(input.ifMatch)
  const { note } = parseInput(WithNote, { note: input.note })
  return withTransaction(ctx, async (tx) => {
    const row = await findRow(tx, noun, input.id, { lock: true })
    if (row.status === 'archived') throw new AppError(noun.archived)
    expectVersion(row, { ifMatch })
    const { id } = row
    const saved = await findVersion(tx, noun, row, row.version)
    const content = noun.contentOf(saved)
    const live = isLive(row)
    // A live version stays live, even if other objects have changed since.
    if (!live) await refuseProblems(tx, noun, content)
    const { report, columns, renews = false } = await check(tx, { id, version: saved, content, live })
    const to = versionToPublish(row, saved, renews)
    if (to === null) return { ...noun.present(row, content), ...report }
    const { version } = to === row.version ? row : await saveVersion(tx, noun, row, content, { folds: false })
    const change = publishColumns(tx, version)
    const published = await changeRow(tx, noun, id, change, 'publish')
    await tx.db
      .update(noun.versions)
      .set({ ...columns, publishedAt: change.publishedAt, ...(note ? { note } : {}) })
      .where(versionIs(tx, noun, id, version))
    const { name, publishedVersion } = row
    const replaced = publishedVersion === null ? {} : { replaces: publishedVersion }
    await record(tx, `${noun.word}.published`, { id, name }, { version, ...replaced, ...(note ? { note } : {}) })
    return { ...noun.present(published, content), ...report }
  })
}
