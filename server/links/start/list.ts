import { and, desc, eq, gt, isNull } from 'drizzle-orm'
import { startLinks } from '@/db/schema/start-links'
import { authorize, refuseLimited } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { tenantMasker } from '../../vault/masker'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { mayStillStart } from '../maker'
import { LISTED, type StartLinkRow } from './find'
import { presentStartLink } from './present'

const MAX = 1_000

/**
 * The start links of a workflow, newest first, without their tokens.
 * @throws AppError FORBIDDEN, WORKFLOW_NOT_FOUND
 */
export async function listStartLinks(ctx: ServiceContext, { workflowId }: { workflowId: string }) {
  authorize(ctx, 'workflow:read')
  refuseLimited(ctx)
  await findRow(ctx, WORKFLOW, workflowId)
  const [rows, masker] = await Promise.all([
    ctx.db
      .select(LISTED)
      .from(startLinks)
      .where(and(eq(startLinks.tenantId, ctx.tenantId), eq(startLinks.workflowId, workflowId)))
      .orderBy(desc(startLinks.createdAt), desc(startLinks.id))
      .limit(MAX),
    tenantMasker(ctx),
  ])
  const mayStart = await whichMayStart(ctx, rows)
  return rows.map((row) => presentStartLink({ ...row, makerMayStart: mayStart(row) }, masker))
}

/** As many as a publication shows. */
const MAX_WORKING = 100

/**
 * The newest start links of a workflow that work, without the number of their runs: counting them takes longer than a
 * publication should wait.
 * @throws AppError FORBIDDEN, WORKFLOW_NOT_FOUND
 */
export async function listWorkingStartLinks(ctx: ServiceContext, { workflowId }: { workflowId: string }) {
  authorize(ctx, 'workflow:read')
  refuseLimited(ctx)
  await findRow(ctx, WORKFLOW, workflowId)
  const [rows, masker] = await Promise.all([
    ctx.db
      .select()
      .from(startLinks)
      .where(
        and(
          eq(startLinks.tenantId, ctx.tenantId),
          eq(startLinks.workflowId, workflowId),
          isNull(startLinks.revokedAt),
          gt(startLinks.expiresAt, ctx.now()),
        ),
      )
      .orderBy(desc(startLinks.createdAt), desc(startLinks.id))
      .limit(MAX_WORKING),
    tenantMasker(ctx),
  ])
  const mayStart = await whichMayStart(ctx, rows)
  return rows.filter(mayStart).map(({ id, label, makerId, expiresAt }) => ({
    id,
    label: label === null ? null : masker.text(label),
    createdBy: makerId,
    expiresAt: expiresAt.toISOString(),
  }))
}

/** Which links of a workflow their makers still may pass on. Looks up each maker once, and of tokens each secret. */
async function whichMayStart(ctx: ServiceContext, links: readonly StartLinkRow[]) {
  const keyOf = ({ makerKind, makerId, secretId }: StartLinkRow) =>
    `${makerKind} ${makerKind === 'jwt' ? secretId : makerId}`
  const ofMakers = new Map(links.map((one) => [keyOf(one), one]))
  const found = await Promise.all(
    [...ofMakers].map(async ([key, link]) => [key, await mayStillStart(ctx, link)] as const),
  )
  const rights = new Map(found)
  return (link: StartLinkRow) => rights.get(keyOf(link)) ?? false
}
