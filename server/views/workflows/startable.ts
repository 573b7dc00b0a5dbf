import { and, asc, count, eq, isNotNull, ne, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { hasText, SearchText } from '../../query/search-text'
import { tenantMasker } from '../../vault/masker'
import type { One } from '../../versioned/noun'
import { readStartForm, type StartForm } from '../../workflows/start-form'

const LIMIT = 60

export const BrowseStartable = z.object({
  q: SearchText.optional(),
  /** Starts at 1. */
  page: z.number().int().min(1).max(1_000_000).optional(),
})
export type BrowseStartable = z.input<typeof BrowseStartable>

/** Of the published version: a draft may have other texts. */
const NAME = workflowVersions.name
const DESCRIPTION = sql<string>`coalesce(${workflowVersions.definition}->>'description', '')`

/**
 * The workflows that the caller may start: published and not archived, by name, a page at a time.
 * @throws AppError INVALID_INPUT
 */
export async function browseStartable(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'run:start')
  const { q, page = 1 } = parseInput(BrowseStartable, input)
  const published = and(
    eq(workflowVersions.tenantId, workflows.tenantId),
    eq(workflowVersions.workflowId, workflows.id),
    eq(workflowVersions.version, workflows.publishedVersion),
  )
  const where = and(
    eq(workflows.tenantId, ctx.tenantId),
    ne(workflows.status, 'archived'),
    isNotNull(workflows.publishedVersion),
    q ? or(hasText(NAME, q), hasText(DESCRIPTION, q)) : undefined,
  )
  const [rows, [total], masker] = await Promise.all([
    ctx.db
      .select({ id: workflows.id, name: NAME, description: DESCRIPTION })
      .from(workflows)
      .innerJoin(workflowVersions, published)
      .where(where)
      .orderBy(asc(sql`lower(${NAME})`), asc(workflows.id))
      .limit(LIMIT)
      .offset((page - 1) * LIMIT),
    ctx.db.select({ count: count() }).from(workflows).innerJoin(workflowVersions, published).where(where),
    tenantMasker(ctx),
  ])
  const items = rows.map(({ id, name, description }) => ({
    id,
    name: masker.text(name),
    description: masker.text(description),
  }))
  return { items, total: total?.count ?? 0, page, limit: LIMIT }
}

/**
 * The start page of one workflow.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function readStartPage(ctx: ServiceContext, { id }: One): Promise<StartForm> {
  authorize(ctx, 'run:start')
  return readStartForm(ctx, id)
}
