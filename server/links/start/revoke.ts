import { and, eq, isNull } from 'drizzle-orm'
import { startLinks } from '@/db/schema/start-links'
import { record } from '../../audit/record'
import { authorize, refuseLimited } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { AppError } from '../../errors'
import { isId } from '../../ids'
import { tenantMasker } from '../../vault/masker'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { mayStillStart } from '../maker'
import { LISTED, startLinkIs } from './find'
import { presentStartLink } from './present'

/** Identifies a start link of a workflow. */
export interface OneStartLink {
  workflowId: string
  linkId: string
}

/**
 * Revokes a start link. Revoking it again changes nothing. Its runs stay.
 * @throws AppError FORBIDDEN, WORKFLOW_NOT_FOUND, NOT_FOUND
 */
export async function revokeStartLink(ctx: ServiceContext, { workflowId, linkId }: OneStartLink) {
  authorize(ctx, 'run:start')
  refuseLimited(ctx)
  return withTransaction(ctx, async (tx) => {
    const { name } = await findRow(tx, WORKFLOW, workflowId)
    const ofWorkflow = and(startLinkIs(tx, linkId), eq(startLinks.workflowId, workflowId))
    const revoked = isId(linkId)
      ? await tx.db
          .update(startLinks)
          .set({ revokedAt: tx.now() })
          .where(and(ofWorkflow, isNull(startLinks.revokedAt)))
          .returning({ id: startLinks.id })
      : []
    if (revoked.length > 0) await record(tx, 'workflow.startLinkRevoked', { id: workflowId, name }, { link: linkId })
    const [link] = isId(linkId) ? await tx.db.select(LISTED).from(startLinks).where(ofWorkflow) : []
    if (!link) throw new AppError('NOT_FOUND', { message: 'Start link not found' })
    return presentStartLink({ ...link, makerMayStart: await mayStillStart(tx, link) }, await tenantMasker(tx))
  })
}
