import { sql } from 'drizzle-orm'
import type { TransactionContext } from '../context'

export const RUN_CHANNEL = 'millrace_run'

/**
 * Tells every process on commit that a run paused, ended or was asked to stop. This is a hint: processes that miss it
 * poll.
 */
export async function announceRun(tx: TransactionContext, runId: string): Promise<void> {
  await tx.db.execute(sql`select pg_notify(${RUN_CHANNEL}, ${runId})`)
}
