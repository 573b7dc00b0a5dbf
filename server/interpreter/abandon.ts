import { and, eq, isNull } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '../context'
import type { JsonObject } from '../json'
import { lockPlace } from './place'
import type { WalkRef } from './receipt'
import { endRun } from './stop'

/** The engine gave a walk up (it could not be called in 20 attempts): the run ends rather than hang. */
export async function abandonWalk(ctx: ServiceContext, ref: WalkRef, reason: string): Promise<void> {
  await withTransaction(ctx, async (tx) => {
    const locked = await lockPlace(tx, ref, { stepId: '', visit: 0 })
    if ('stop' in locked) return
    const { run } = locked.place
    const now = tx.now()
    const message = 'The engine could not carry the run on.'
    ctx.log.error({ runId: ref.runId, reason }, 'the engine gave a walk up')
    await tx.db
      .update(stepRecords)
      .set({ status: 'failed', endTime: now, outputData: {}, error: message, errorCode: 'ENGINE_GAVE_UP' })
      .where(and(eq(stepRecords.tenantId, ref.tenantId), eq(stepRecords.runId, ref.runId), isNull(stepRecords.endTime)))
    const error = { code: 'ENGINE_GAVE_UP', message, stepId: run.currentStepId }
    await endRun(tx, locked.place, {
      status: 'failed',
      outcome: 'failed',
      data: run.data as JsonObject,
      error,
      stepId: run.currentStepId,
    })
  })
}
