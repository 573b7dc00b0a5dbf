import { and, eq, isNull } from 'drizzle-orm'
import { taskLinks } from '@/db/schema/task-links'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { getRunRow } from '../run-store/find-run'
import { linkIs } from './find'
import { presentLink } from './present'

/**
 * Revokes a link. Revoking it again changes nothing.
 * @throws AppError RUN_NOT_FOUND, NOT_FOUND, CONFLICT if it has been used
 */
export async function revokeTaskLink(ctx: ServiceContext, { runId, linkId }: { runId: string; linkId: string }) {
  authorize(ctx, 'run:resume')
  return withTransaction(ctx, async (tx) => {
    const { workflowName: name } = await getRunRow(tx, runId)
    const ofRun = and(linkIs(tx, linkId), eq(taskLinks.runId, runId))
    const [revoked] = isId(linkId)
      ? await tx.db
          .update(taskLinks)
          .set({ revokedAt: tx.now() })
          .where(and(ofRun, isNull(taskLinks.usedAt), isNull(taskLinks.revokedAt)))
          .returning()
      : []
    if (revoked) {
      await record(tx, 'run.linkRevoked', { id: runId, name }, { link: linkId })
      return presentLink(revoked)
    }
    const [link] = isId(linkId) ? await tx.db.select().from(taskLinks).where(ofRun) : []
    if (!link) throw new AppError('NOT_FOUND', { message: 'Task link not found' })
    if (link.usedAt) throw new AppError('CONFLICT', { message: 'The link has been used' })
    return presentLink(link)
  })
}
