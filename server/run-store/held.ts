import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import { ImpossibleState } from '../errors'
import { getRunRow } from './find-run'

type StoredRun = Awaited<ReturnType<typeof getRunRow>>

const HELD = Symbol('held')

/**
 * A transaction that has locked a run until it ends. Only `hold` and `holdRun` make one, so any transaction that
 * changes the rows of a run has its lock.
 */
export type Held = TransactionContext & { readonly [HELD]: string }

/**
 * Locks a run. Read its other rows in a later statement: a statement that waited for the lock sees the locked row as it
 * is after the wait, but every other row as it was before.
 */
export async function hold(tx: TransactionContext, of: { tenantId: string; runId: string }): Promise<Held> {
  await tx.db
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.tenantId, of.tenantId), eq(runs.id, of.runId)))
    .for('update')
  return { ...tx, [HELD]: of.runId }
}

/**
 * Locks a run and then reads, or changes, some of its data, in two statements that are sent together.
 * @param read a query that has not been sent yet
 */
export async function holdAndRead<T>(
  tx: TransactionContext,
  of: { tenantId: string; runId: string },
  read: PromiseLike<T>,
): Promise<[Held, T]> {
  return Promise.all([hold(tx, of), read])
}

/**
 * Locks a run, and reads its row.
 * @throws AppError RUN_NOT_FOUND, as `getRunRow`
 */
export async function holdRun(tx: TransactionContext, runId: string): Promise<{ held: Held; run: StoredRun }> {
  const run = await getRunRow(tx, runId, { lock: true })
  return { held: { ...tx, [HELD]: run.id }, run }
}

/** @throws ImpossibleState if another run is held */
export function requireHeld(held: Held, runId: string): void {
  if (held[HELD] !== runId) throw new ImpossibleState('another-run-held', `${held[HELD]} is held, not ${runId}`)
}
