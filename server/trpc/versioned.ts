import type { ServiceContext } from '../context'
import type { PresentedDraft } from '../versioned/draft'
import type { One, OneVersion } from '../versioned/noun'
import type { PublishDraft } from '../versioned/publish-draft'
import type { RestoreDraft } from '../versioned/restore-draft'
import type { SaveDraft } from '../versioned/save-draft'
import { inputWith, tenantProcedure } from './init'

type Verb<Input, Output> = (ctx: ServiceContext, input: Input) => Promise<Output>

interface Verbs<W> {
  archive: Verb<One, W>
  unarchive: Verb<One, W>
  undoArchive: Verb<One, W>
  duplicate: Verb<One, W>
}

interface DraftedVerbs<W, Version, Published> extends Verbs<W> {
  get: Verb<One, W>
  getVersion: Verb<OneVersion, Version>
  saveDraft: Verb<One & { body: unknown }, PresentedDraft>
  publishDraft: Verb<PublishDraft, Published>
  restoreVersion: Verb<RestoreDraft, PresentedDraft>
}

/** The procedures that agents, tools and workflows share, from the same verbs as their endpoints. */
export function versionedProcedures<W>(verbs: Verbs<W>) {
  const change = (verb: Verb<One, W>) =>
    tenantProcedure.input(inputWith<One>('id')).mutation(({ ctx, input }) => verb(ctx.service, input))
  return {
    archive: change(verbs.archive),
    unarchive: change(verbs.unarchive),
    undoArchive: change(verbs.undoArchive),
    duplicate: change(verbs.duplicate),
  }
}

/** Those of agents and tools, which have a draft beside their versions. */
export function draftedProcedures<W, Version, Published>(verbs: DraftedVerbs<W, Version, Published>) {
  return {
    ...versionedProcedures(verbs),
    get: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => verbs.get(ctx.service, input)),
    version: tenantProcedure
      .input(inputWith<OneVersion>('id', 'version'))
      .query(({ ctx, input }) => verbs.getVersion(ctx.service, input)),
    saveDraft: tenantProcedure
      .input(inputWith<One & { body: SaveDraft }>('id'))
      .mutation(({ ctx, input }) => verbs.saveDraft(ctx.service, input)),
    publish: tenantProcedure
      .input(inputWith<PublishDraft>('id'))
      .mutation(({ ctx, input }) => verbs.publishDraft(ctx.service, input)),
    restore: tenantProcedure
      .input(inputWith<RestoreDraft>('id', 'version'))
      .mutation(({ ctx, input }) => verbs.restoreVersion(ctx.service, input)),
  }
}
