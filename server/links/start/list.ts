import { and, desc, eq } from 'drizzle-orm'
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

/** Which links of a workflow their makers still may pass on. Looks up each maker once, and of tokens each secret. */
async function whichMayStart(ctx: ServiceContext, links: readonly StartLinkRow[]) {
  const keyOf = ({ makerKind, makerId, secretId }: StartLinkRow) =>
    `${makerKind} ${makerKind === 'jwt' ? secretId : makerId}`
  const rights = new Map<string, boolean>()
  for (const link of new Map(links.map((one) => [keyOf(one), one])).values())
    rights.set(keyOf(link), await mayStillStart(ctx, link))
  return (link: StartLinkRow) => rights.get(keyOf(link)) ?? false
}
