import { type ServiceContext, withTransaction } from '../context'
import { parseInput } from '../parse'
import { type Drafted, findDraft, lockForDraft, Revision, writeDraft } from './draft'
import { expectVersion } from './expected-version'
import type { Named, One, Row, VersionRow } from './noun'
import { type Check, type Note, publish } from './publish'
import { findContent } from './rows'
import { saveVersion } from './update'

export interface PublishDraft extends One {
  /** The revision of the draft that the caller saw. */
  revision: number
  note?: Note
}

/**
 * Makes the draft the next version and publishes it; without a draft, publishes the latest version.
 * @param check throws to reject the version
 * @throws AppError the noun's `notFound` or `archived`; VERSION_CONFLICT if someone saved the draft, or a version that
 * it does not contain, in between; INVALID_INPUT, and the errors of `check`
 */
export async function publishDraft<R extends Row, V extends VersionRow, C extends Named, W, Report extends object>(
  ctx: ServiceContext,
  noun: Drafted<R, V, C, W>,
  { id, note, ...input }: PublishDraft,
  check: Check<V, C, Report>,
): Promise<W & Report> {
  const revision = parseInput(Revision, input.revision)
  return withTransaction(ctx, async (tx) => {
    const row = await lockForDraft(tx, noun, id)
    const draft = await findDraft(tx, noun, row, revision)
    if (draft?.content) {
      expectVersion(row, { ifMatch: null, version: draft.baseVersion })
      const current = await findContent(tx, noun, row)
      const content = noun.withDraft(current, draft.content)
      const saved = noun.same(current, content) ? row : await saveVersion(tx, noun, row, content, { folds: false })
      await writeDraft(tx, noun, row, { revision, baseVersion: saved.version, content: null })
    }
    return publish(tx, noun, { id, note }, check)
  })
}
