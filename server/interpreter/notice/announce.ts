import { sql } from 'drizzle-orm'
import type { TransactionContext } from '../../context'
import { noteNews } from './heard'

export const RUN_CHANNEL = 'millrace_run'

/**
 * Notifies every process, on commit, that a run paused, ended or was asked to stop. This is a hint: processes that miss
 * it poll. This process knows as soon as the commit is confirmed, before it responds to any caller.
 */
export async function announceRun(tx: TransactionContext, runId: string): Promise<void> {
  tx.afterCommit(() => noteNews(runId))
  await tx.db.execute(sql`select pg_notify(${RUN_CHANNEL}, ${runId})`)
}
