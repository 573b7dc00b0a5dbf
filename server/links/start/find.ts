import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { startLinkForms, startLinks } from '@/db/schema/start-links'
import type { Visitor } from '../../auth/visitor'
import type { ServiceContext } from '../../context'
import { enterByLink } from '../enter'
import { readStartToken } from '../token'

export type StartLinkRow = typeof startLinks.$inferSelect

export const startLinkIs = (ctx: Pick<ServiceContext, 'tenantId'>, id: string) =>
  and(eq(startLinks.tenantId, ctx.tenantId), eq(startLinks.id, id))

/** The columns of a link as its workspace sees it. */
export const LISTED = {
  ...getTableColumns(startLinks),
  starts: sql<number>`(select count(*)::int from ${startLinkForms} f
    where f.tenant_id = ${startLinks.tenantId} and f.link_id = ${startLinks.id})`,
}
export type ListedStartLink = StartLinkRow & { starts: number }

/**
 * A start link, for a person who has only the link; null if unknown. Its runs belong to the link, because nobody knows
 * who has it.
 * @throws AppError RATE_LIMITED
 */
export async function findStartLink(visitor: Visitor, token: string) {
  const claims = await readStartToken(token)
  const ctx = await enterByLink(visitor, claims, claims?.id ?? '')
  if (!claims || !ctx) return null
  const [link] = await ctx.db
    .select()
    .from(startLinks)
    .where(and(startLinkIs(ctx, claims.id), eq(startLinks.workflowId, claims.workflowId)))
  return link ? { ctx, link } : null
}

export type FoundStartLink = NonNullable<Awaited<ReturnType<typeof findStartLink>>>
