import { deleteOldTurns, sweepHeldTurns } from '../agents/journal/sweep'
import { type Sweep, systemContext } from '../context'
import { runOfDeadTurn } from './as-run'

/** Lets runs continue the streamed turns whose processes died, and deletes old turns. */
export async function sweepTurns(sweep: Sweep): Promise<number> {
  const { db, log, now } = sweep
  const dead = await sweepHeldTurns(sweep)
  for (const { tenantId, id } of dead) {
    const ctx = systemContext({ tenantId, db, log, now })
    await runOfDeadTurn(ctx, id).catch((err: unknown) =>
      log.error({ err, turnId: id }, 'a turn could not become a run'),
    )
  }
  await deleteOldTurns(sweep)
  return dead.length
}
