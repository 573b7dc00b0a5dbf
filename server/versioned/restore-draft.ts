import { record } from '../audit/record'
import { type ServiceContext, withTransaction } from '../context'
import type { JsonObject } from '../definition/json'
import { parseInput } from '../parse'
import { type Drafted, lockForDraft, type PresentedDraft, presentDraft, Revision, writeDraft } from './draft'
import type { Named, OneVersion, Row, VersionRow } from './noun'
import { findContent, findVersion } from './rows'

export interface RestoreDraft extends OneVersion {
  revision: number
}

/**
 * Copies an earlier version into the draft, as a basis for the next one.
 * @throws AppError the noun's `notFound` or `archived`, VERSION_CONFLICT as `saveDraft`
 */
export async function restoreIntoDraft<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Drafted<R, V, C, W>,
  input: RestoreDraft,
): Promise<PresentedDraft> {
  const revision = parseInput(Revision, input.revision)
  return withTransaction(ctx, async (tx) => {
    const row = await lockForDraft(tx, noun, input.id)
    const content = noun.contentOf(await findVersion(tx, noun, row, input.version))
    // A version's content was stored as JSON.
    const draft = { revision, baseVersion: row.version, content: { ...content } as unknown as JsonObject }
    const saved = await writeDraft(tx, noun, row, draft)
    await record(tx, `${noun.word}.restored`, row, { draft: true, from: input.version })
    return presentDraft(tx, noun, row, await findContent(tx, noun, row), saved)
  })
}
