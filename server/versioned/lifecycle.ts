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

/** How the verbs of one noun differ from those of the others. */
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
  /** Throws to refuse a version that is to be published. */
  check: Check<V, C, Report>
  /** Throws for an id whose object nobody may change. */
  requireOwn?(id: string): void
}

/**
 * The verbs that agents, tools and workflows share. Each throws the noun's `notFound` for an id or a version that does not
 * exist, and FORBIDDEN if the caller lacks its permission, which is `read`, `write` or `publish` of the noun.
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
     * Most recently changed first, and how many match in all.
     * @throws AppError INVALID_INPUT
     */
    async list(ctx: ServiceContext, input: unknown) {
      authorize(ctx, `${word}:read`)
      const { rows, ...page } = await list(ctx, noun, parseInput(rules.list, input))
      return { items: rows.map(({ row }) => presentItem(row)), ...page }
    },
    /**
     * Creates a draft. Only its name is required: publish checks whether it is complete, and what it refers to.
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
     * Saves a change as the next version. Fields the body leaves out keep their values; a body that changes nothing makes
     * no version. `published` still means the same version.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT
     */
    async update(ctx: ServiceContext, input: Guarded & { body: unknown }): Promise<W> {
      authorize(ctx, `${word}:write`)
      rules.requireOwn?.(input.id)
      return update(ctx, noun, input, rules.update)
    },
    /** Nobody can call or start it any more; what is under way goes on. Archiving it again changes nothing. */
    archive: setArchived('archived'),
    /** Brings an archived one back as a draft; any other stays as it is. `published` means the version it meant before. */
    unarchive: setArchived('draft'),
    /** Undoes an archive: it gets its previous status back. */
    undoArchive: setArchived('as before'),
    /**
     * Makes the latest saved version the one `published` means. Publishing it again without a change does nothing.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT, and what `check` throws
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

/** The verbs of a noun with a draft beside its versions: those of `lifecycleOf`, and those of the draft. */
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
     * Saves what somebody is typing, without a version; null discards it.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT
     */
    async saveDraft(ctx: ServiceContext, input: One & { body: unknown }): Promise<PresentedDraft> {
      authorize(ctx, `${word}:write`)
      rules.requireOwn?.(input.id)
      return saveDraft(ctx, noun, input)
    },
    /**
     * Makes the draft the next version and publishes it; without a draft, publishes the latest version.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT, and what `check` throws
     */
    async publishDraft(ctx: ServiceContext, input: PublishDraft): Promise<W & Report> {
      authorize(ctx, `${word}:write`)
      authorize(ctx, `${word}:publish`)
      rules.requireOwn?.(input.id)
      return publishDraft(ctx, noun, input, rules.check)
    },
    /**
     * Puts an earlier version into the draft; nothing is published.
     * @throws AppError the noun's `archived`, VERSION_CONFLICT, INVALID_INPUT
     */
    async restoreVersion(ctx: ServiceContext, input: RestoreDraft): Promise<PresentedDraft> {
      authorize(ctx, `${word}:write`)
      rules.requireOwn?.(input.id)
      return restoreIntoDraft(ctx, noun, input)
    },
  }
}
