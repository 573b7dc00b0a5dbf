import type { z } from 'zod'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { archive } from './archive'
import { copyName } from './copy-name'
import { create } from './create'
import type { Drafted, PresentedDraft } from './draft'
import { list } from './list'
import type { ListQuery } from './list-schema'
import { listVersions } from './list-versions'
import type { Guarded, Named, Noun, One, OneVersion, Row, VersionRow } from './noun'
import { presentItem, presentVersionItem } from './present'
import { type Check, type Note, publish } from './publish'
import { type PublishDraft, publishDraft } from './publish-draft'
import { type RestoreDraft, restoreIntoDraft } from './restore-draft'
import { findRowAt, findWhole } from './row-at'
import { saveDraft } from './save-draft'
import { type Change, update } from './update'

/** The parts in which the verbs of one noun differ from the others'. */
export interface Rules<
  R extends Row,
  V extends VersionRow,
  C extends Named,
  B extends z.ZodType<Change>,
  Shown,
  Report,
> {
  /**
   * Parses the body of a create.
   * @throws AppError INVALID_INPUT
   */
  newContent(body: unknown): C
  update: { schema: B; merge(current: C, change: z.output<B>): C }
  list: z.ZodType<ListQuery>
  presentVersion(version: V, row: R): Shown
  /** Throws to reject a version about to be published. */
  check: Check<V, C, Report>
  /** Throws for the id of an object that nobody may change. */
  requireOwn?(id: string): void
}

/**
 * The verbs that agents, tools and workflows share. Each throws the noun's `notFound` for an unknown id or version, and
 * FORBIDDEN if the caller lacks its permission, which is `read`, `write` or `publish` of the noun.
 */
export function lifecycleOf<
  R extends Row,
  V extends VersionRow,
  C extends Named,
  W,
  B extends z.ZodType<Change>,
  Shown,
  Report extends object,
>(noun: Noun<R, V, C, W>, rules: Rules<R, V, C, B, Shown, Report>) {
  const { word } = noun
  const setArchived =
    (to: 'archived' | 'draft' | 'as before') =>
    async (ctx: ServiceContext, input: One): Promise<W> => {
      authorize(ctx, `${word}:publish`)
      rules.requireOwn?.(input.id)
      return archive(ctx, noun, input, to)
    }
  return {
    /**
     * Most recently changed first, and the total number of matches.
     * @throws AppError INVALID_INPUT
     */
    async list(ctx: ServiceContext, input: unknown) {
      authorize(ctx, `${word}:read`)
      const { rows, ...page } = await list(ctx, noun, parseInput(rules.list, input))
      return { items: rows.map(({ row }) => presentItem(row)), ...page }
    },
    /**
     * Creates a draft. Only its name is required: publish checks whether it is complete, and its references.
     * @throws AppError INVALID_INPUT
     */
    async create(ctx: ServiceContext, input: unknown): Promise<W> {
      authorize(ctx, `${word}:write`)
      const content = rules.newContent(input)
      return withTransaction(ctx, (tx) => create(tx, noun, newId(noun.idPrefix), content))
    },
    /** The latest saved version, also of an archived one. */
    async get(ctx: ServiceContext, { id }: One): Promise<W> {
      authorize(ctx, `${word}:read`)
      const { row, content } = await findWhole(ctx, noun, id)
      return noun.present(row, content)
    },
    /**
     * Saves a change as the next version. Fields missing in the body stay the same; a body that changes nothing makes
     * no version. `published` still means the same version.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT
     */
    async update(ctx: ServiceContext, input: Guarded & { body: unknown }): Promise<W> {
      authorize(ctx, `${word}:write`)
      rules.requireOwn?.(input.id)
      return update(ctx, noun, input, rules.update)
    },
    /** Prevents new calls and starts; running work continues. Archiving it again changes nothing. */
    archive: setArchived('archived'),
    /**
     * Brings an archived one back as a draft; any other stays as it is. `published` means the same version as before.
     */
    unarchive: setArchived('draft'),
    /** Undoes an archive: restores the previous status. */
    undoArchive: setArchived('as before'),
    /**
     * Makes `published` mean the latest saved version. Publishing it again without a change does nothing.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT, and the errors of `check`
     */
    async publish(ctx: ServiceContext, input: Guarded & { note?: Note }): Promise<W & Report> {
      authorize(ctx, `${word}:publish`)
      rules.requireOwn?.(input.id)
      return publish(ctx, noun, input, rules.check)
    },
    /** Creates a draft from the latest saved version, also of an archived one. */
    async duplicate(ctx: ServiceContext, { id }: One): Promise<W> {
      authorize(ctx, `${word}:write`)
      rules.requireOwn?.(id)
      return withTransaction(ctx, async (tx) => {
        const { row, content } = await findWhole(tx, noun, id)
        const copy = { ...content, name: copyName(content.name, noun.maxName) }
        return create(tx, noun, newId(noun.idPrefix), copy, noun.carriedOver?.(row), id)
      })
    },
    /**
     * Newest first. Numbers may be missing: saves that were folded into the next one.
     * @throws AppError INVALID_INPUT
     */
    async listVersions(ctx: ServiceContext, input: One & { page: unknown }) {
      authorize(ctx, `${word}:read`)
      const { row, versions, ...page } = await listVersions(ctx, noun, input)
      return { items: versions.map((version) => presentVersionItem(version, row)), ...page }
    },
    /** One version with its whole content. */
    async getVersion(ctx: ServiceContext, { id, version: wanted }: OneVersion): Promise<Shown> {
      authorize(ctx, `${word}:read`)
      const { row, version } = await findRowAt(ctx, noun, id, wanted)
      return rules.presentVersion(version, row)
    },
  }
}

/** The verbs of a noun with a draft beside its versions: those of `lifecycleOf` and those of the draft. */
export function draftedLifecycleOf<
  R extends Row,
  V extends VersionRow,
  C extends Named,
  W,
  B extends z.ZodType<Change>,
  Shown,
  Report extends object,
>(noun: Drafted<R, V, C, W>, rules: Rules<R, V, C, B, Shown, Report>) {
  const { word } = noun
  return {
    ...lifecycleOf(noun, rules),
    /**
     * Saves an edit without making a version; null discards the draft.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT
     */
    async saveDraft(ctx: ServiceContext, input: One & { body: unknown }): Promise<PresentedDraft> {
      authorize(ctx, `${word}:write`)
      rules.requireOwn?.(input.id)
      return saveDraft(ctx, noun, input)
    },
    /**
     * Makes the draft the next version and publishes it; without a draft, publishes the latest version.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT, and the errors of `check`
     */
    async publishDraft(ctx: ServiceContext, input: PublishDraft): Promise<W & Report> {
      authorize(ctx, `${word}:write`)
      authorize(ctx, `${word}:publish`)
      rules.requireOwn?.(input.id)
      return publishDraft(ctx, noun, input, rules.check)
    },
    /**
     * Copies an earlier version into the draft; publishes nothing.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT
     */
    async restoreVersion(ctx: ServiceContext, input: RestoreDraft): Promise<PresentedDraft> {
      authorize(ctx, `${word}:write`)
      rules.requireOwn?.(input.id)
      return restoreIntoDraft(ctx, noun, input)
    },
  }
}
