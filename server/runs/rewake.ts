import { and, eq, ne } from 'drizzle-orm'
import { walks } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { requestAgain } from '../interpreter/index'
import { holdRun } from '../run-store/held'

/**
 * Makes the engine continue a run that it has lost track of: recorded steps are not repeated, and one that was in
 * progress runs again with the same idempotency key.
 * @throws AppError RUN_NOT_FOUND
 */
export async function rewakeRun(ctx: ServiceContext, { runId }: { runId: string }) {
  authorize(ctx, 'run:retry')
  return withTransaction(ctx, async (tx) => {
    const { held, run } = await holdRun(tx, runId)
    const open = await tx.db
      .select({ branch: walks.branch })
      .from(walks)
      .where(and(eq(walks.tenantId, tx.tenantId), eq(walks.runId, runId), ne(walks.status, 'ended')))
    let requested = 0
    for (const { branch } of open) if (await requestAgain(held, { runId, branch })) requested += 1
    return { runId, status: run.status, requested }
  })
}
