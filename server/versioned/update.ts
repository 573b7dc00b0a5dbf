import type { z } from 'zod'
import { recordSave } from '../audit/record'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { expectVersion, readIfMatch } from './expected-version'
import type { Guarded, Named, Noun, Row, VersionRow } from './noun'
import { changeRow, findContent, findRow, refuseProblems } from './rows'

/** The part of an update's body besides the change: the version the caller last saw. */
export type Change = { version?: number | null | undefined }

/**
 * Saves a change as the next version; a change without effect makes no version. The status stays, and `published` still
 * means the same version.
 * @throws AppError the noun's `notFound` or `archived`, VERSION_CONFLICT, INVALID_INPUT
 */
export async function update<R extends Row, V extends VersionRow, C extends Named, W, B extends z.ZodType<Change>>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, W>,
  input: Guarded & { body: unknown },
  { schema, merge }: { schema: B; merge(current: C, change: z.output<B>): C },
): Promise<W> {
  const ifMatch = readIfMatch(input.ifMatch)
  const change = parseInput(schema, input.body)
  return withTransaction(ctx, async (tx) => {
    const row = await findRow(tx, noun, input.id, { lock: true })
    if (row.status === 'archived') throw new AppError(noun.archived)
    expectVersion(row, { ifMatch, version: change.version })
    const current = await findContent(tx, noun, row)
    const content = merge(current, change)
    if (noun.same(current, content)) return noun.present(row, current)
    const saved = await saveVersion(tx, noun, row, content, { folds: true })
    await recordSave(tx, `${noun.word}.saved`, saved, { version: saved.version })
    return noun.present(saved, content)
  })
}

/**
 * Writes the next version of a locked row.
 * @param options.folds whether it may fold in the previous version, for nouns that fold versions
 */
export async function saveVersion<R extends Row, V extends VersionRow, C extends Named>(
  tx: TransactionContext,
  noun: Noun<R, V, C, unknown>,
  row: R,
  content: C,
  options: { folds: boolean },
): Promise<R> {
  await refuseProblems(tx, noun, content)
  const now = tx.now()
  const by = tx.actor.id
  const version = row.version + 1
  const { name, description } = content
  const saved = { tenantId: tx.tenantId, id: row.id, version, name, createdBy: by, createdAt: now }
  const folded = options.folds && noun.fold ? { burstSince: await noun.fold(tx, row, now) } : {}
  await noun.insertVersion(tx, { ...saved, ...folded }, content)
  return changeRow(tx, noun, row.id, { name, description, version, updatedBy: by, updatedAt: now }, 'save')
}
