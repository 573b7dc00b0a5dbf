import { z } from 'zod'
import { record, recordSave } from '../audit/record'
import { type ServiceContext, withTransaction } from '../context'
import { AnyJson } from '../definition/any-json'
import { type JsonObject, unstorable } from '../definition/json'
import { AppError, type ErrorDetail } from '../errors'
import { parseInput } from '../parse'
import {
  type Drafted,
  draftConflict,
  lockForDraft,
  type PresentedDraft,
  presentDraft,
  Revision,
  writeDraft,
} from './draft'
import type { Named, One, Row, VersionRow } from './noun'
import { findContent } from './rows'

/** No agent or tool is larger: the limits of a version's parts are smaller. */
const MAX_CHARACTERS = 1_000_000

const SaveDraft = z.object({
  /** The revision that the caller changed. */
  revision: Revision,
  baseVersion: z.number().int().min(1),
  /** Null discards the draft. */
  content: z.record(z.string(), AnyJson).nullable(),
})
export type SaveDraft = z.input<typeof SaveDraft>

/**
 * Saves an edit. Callers notice nothing, and no version is made.
 * @throws AppError the noun's `notFound` or `archived`, VERSION_CONFLICT if someone saved the draft in between,
 * INVALID_INPUT
 */
export async function saveDraft<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Drafted<R, V, C, W>,
  input: One & { body: unknown },
): Promise<PresentedDraft> {
  const { content, ...from } = parseInput(SaveDraft, input.body)
  const wrong = content && refusal(content)
  if (wrong) throw new AppError('INVALID_INPUT', { details: [wrong] })
  return withTransaction(ctx, async (tx) => {
    const row = await lockForDraft(tx, noun, input.id)
    if (from.baseVersion > row.version) throw draftConflict(row)
    const saved = await writeDraft(tx, noun, row, { ...from, content })
    // A series of saves is one entry; discarding the draft is another.
    if (content) await recordSave(tx, `${noun.word}.saved`, row, { draft: true })
    else await record(tx, `${noun.word}.saved`, row, { draft: 'discarded' })
    return presentDraft(tx, noun, row, await findContent(tx, noun, row), saved)
  })
}

function refusal(content: JsonObject): ErrorDetail | null {
  if (JSON.stringify(content).length > MAX_CHARACTERS)
    return { path: 'content', message: `is longer than ${MAX_CHARACTERS} characters` }
  return unstorable(content)
}
