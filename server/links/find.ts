import { and, eq } from 'drizzle-orm'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { taskLinks } from '@/db/schema/task-links'
import { tenants } from '@/db/schema/tenants'
import type { Visitor } from '../auth/visitor'
import type { ServiceContext } from '../context'
import { recordOfPause } from '../run-store/conditions'
import { enterByLink } from './enter'
import { readLinkToken } from './token'

export type LinkRow = typeof taskLinks.$inferSelect

export const linkIs = (ctx: Pick<ServiceContext, 'tenantId'>, id: string) =>
  and(eq(taskLinks.tenantId, ctx.tenantId), eq(taskLinks.id, id))

/**
 * A link with its task, for a person who has only the link; null if unknown.
 * @throws AppError RATE_LIMITED
 */
export async function findByToken(visitor: Visitor, token: string) {
  const claims = await readLinkToken(token)
  const ctx = await enterByLink(visitor, claims, 'task-link')
  if (!claims || !ctx) return null
  const { id, runId, pauseId } = claims
  const [row] = await ctx.db
    .select({
      link: taskLinks,
      pause: {
        id: pauses.id,
        stepId: pauses.stepId,
        signal: pauses.signal,
        answeredAt: pauses.answeredAt,
        answer: pauses.answer,
      },
      run: { id: runs.id, workflowName: runs.workflowName, status: runs.status },
      stepName: stepRecords.stepName,
      workspace: tenants.name,
    })
    .from(taskLinks)
    .innerJoin(
      pauses,
      and(eq(pauses.tenantId, taskLinks.tenantId), eq(pauses.runId, taskLinks.runId), eq(pauses.id, taskLinks.pauseId)),
    )
    .innerJoin(runs, and(eq(runs.tenantId, taskLinks.tenantId), eq(runs.id, taskLinks.runId)))
    .innerJoin(tenants, eq(tenants.id, taskLinks.tenantId))
    .leftJoin(stepRecords, recordOfPause)
    .where(and(linkIs(ctx, id), eq(taskLinks.runId, runId), eq(taskLinks.pauseId, pauseId)))
  return row ? { ctx, ...row } : null
}

export type FoundLink = NonNullable<Awaited<ReturnType<typeof findByToken>>>
