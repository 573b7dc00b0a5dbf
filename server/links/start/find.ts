import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { startLinkForms, startLinks } from '@/db/schema/start-links'
import type { Visitor } from '../../auth/visitor'
import type { ServiceContext } from '../../context'
import { enterByLink } from '../enter'
import { readStartToken } from '../token'
import { MAX_STARTS } from './schema'

export type StartLinkRow = typeof startLinks.$inferSelect

export const startLinkIs = (ctx: Pick<ServiceContext, 'tenantId'>, id: string) =>
  and(eq(startLinks.tenantId, ctx.tenantId), eq(startLinks.id, id))

/**
 * The columns of a link as its workspace sees it. A list has many links, so each count has a limit. Drizzle would write
 * the columns of `start_links` without their table, and the innermost query would then take its own.
 */
export const LISTED = {
  ...getTableColumns(startLinks),
  starts: sql<number>`least(${MAX_STARTS}, ${startLinks}.deleted_forms + (select count(*)::int from (
    select from ${startLinkForms} f
    where f.tenant_id = ${startLinks}.tenant_id and f.link_id = ${startLinks}.id limit ${MAX_STARTS}) part))`,
}
export type ListedStartLink = StartLinkRow & { starts: number; makerMayStart: boolean }

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
