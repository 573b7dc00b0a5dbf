import { deleteUnusedThreads } from '../agents/journal/given-up'
import { deleteOldTurns, giveUpTurn, sweepHeldTurns } from '../agents/journal/sweep'
import { type Sweep, systemContext } from '../context'
import { AppError } from '../errors'
import { runOfDeadTurn } from './as-run'

/** Lets runs continue the streamed turns whose processes died, and deletes old turns and threads that nobody used. */
export async function sweepTurns(sweep: Sweep): Promise<number> {
  const { db, log, now } = sweep
  const dead = await sweepHeldTurns(sweep)
  for (const { tenantId, id } of dead) {
    const ctx = systemContext({ tenantId, db, log, now })
    await runOfDeadTurn(ctx, id).catch(async (err: unknown) => {
      log.warn({ err, turnId: id }, 'a turn could not become a run')
      // Its agent is archived or gone.
      if (err instanceof AppError) await giveUpTurn(ctx, id)
    })
  }
  await deleteOldTurns(sweep)
  await deleteUnusedThreads(sweep)
  return dead.length
}
