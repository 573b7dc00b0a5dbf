import { and, eq, sql } from 'drizzle-orm'
import { scopes } from '@/db/schema/runs'
import type { JsonObject } from '../../definition/json'
import type { Arrival } from '../../definition/run'
import { ImpossibleState } from '../../errors'
import type { Held } from '../../run-store/held'
import type { WalkRef } from '../../run-store/names'

type OfRun = Pick<WalkRef, 'tenantId' | 'runId'>
type Fork = typeof scopes.$inferSelect

/** A branch of a fork as it begins. */
export interface NewBranch {
  branch: string
  status: 'requested' | 'queued'
  /** Empty if its exit has no edge: it then ends as it begins. */
  step: string
  position: number
  data: JsonObject
}

/**
 * Opens a fork with its branches.
 * @returns false if an earlier call has done so
 */
export async function insertFork(
  tx: Held,
  { tenantId, runId }: OfRun,
  fork: Pick<Fork, 'id' | 'next' | 'need' | 'stopOnError'>,
  branches: readonly NewBranch[],
): Promise<boolean> {
  const [begun] = await tx.db
    .insert(scopes)
    .values({ tenantId, runId, ...fork, total: branches.length, state: 'open' })
    .onConflictDoNothing()
    .returning({ id: scopes.id })
  if (!begun) return false
  await tx.db.execute(sql`
    insert into walks (tenant_id, run_id, branch, epoch, segment, status, step_id, visit, scope, position, data, updated_at)
    select ${tenantId}, ${runId}, b.branch, 1, 1, b.status, b.step, 1, ${fork.id}, b.position, b.data, ${tx.now().toISOString()}::timestamptz
    from json_to_recordset(${JSON.stringify(branches)}::json) as b(
      branch text, status text, step text, position int, data jsonb)`)
  return true
}

export function forkIs({ tenantId, runId }: OfRun, id: string) {
  return and(eq(scopes.tenantId, tenantId), eq(scopes.runId, runId), eq(scopes.id, id))
}

/** Counts the end of a branch. The first failure is the cause. */
export async function countBranch(
  tx: Held,
  ref: OfRun,
  id: string,
  arrival: Exclude<Arrival, { ends: object }>,
): Promise<Fork> {
  const counted =
    'failed' in arrival
      ? {
          failed: sql`${scopes.failed} + 1`,
          cause: sql`coalesce(${scopes.cause}, ${JSON.stringify(arrival)}::jsonb)`,
        }
      : { succeeded: sql`${scopes.succeeded} + 1` }
  const [fork] = await tx.db.update(scopes).set(counted).where(forkIs(ref, id)).returning()
  if (!fork) throw new ImpossibleState('fork-without-scope', `${id} of ${ref.runId} was not begun`)
  return fork
}

/** Call when the next queued branch of a fork is about to be requested. */
export async function countNext(tx: Held, ref: OfRun, id: string): Promise<void> {
  await tx.db
    .update(scopes)
    .set({ next: sql`${scopes.next} + 1` })
    .where(forkIs(ref, id))
}

/** Stops counting the branches of a fork. */
export async function closeFork(
  tx: Held,
  ref: OfRun,
  id: string,
  as: Partial<Pick<Fork, 'state' | 'cause'>>,
): Promise<void> {
  await tx.db.update(scopes).set(as).where(forkIs(ref, id))
}
