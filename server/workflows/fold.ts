import { and, eq, gt, isNull, notExists, or, sql } from 'drizzle-orm'
import { runMoves } from '@/db/schema/moves'
import { runs } from '@/db/schema/runs'
import { workflowVersions } from '@/db/schema/workflows'
import type { TransactionContext } from '../context'
import { versionIs } from '../versioned/rows'
import type { WorkflowRow } from './present'

/** Saves by one person at most this far apart belong to one burst ... */
const BURST_GAP_MS = 60_000
/** ... which ends after this time, so that an hour of steady autosaving leaves more than its last state. */
const BURST_LENGTH_MS = 10 * 60_000

/**
 * Removes the newest version if it is an earlier save of the same burst. Its number is not reused, because callers
 * compare versions, so the history has gaps instead. The first version is the creation, not an autosave.
 * @returns when the burst began, or null if nothing was folded
 */
export async function foldPrevious(tx: TransactionContext, row: WorkflowRow, now: Date): Promise<Date | null> {
  if (row.version === 1 || row.version === row.publishedVersion) return null
  const { version, createdAt, createdBy, publishedAt, burstSince } = workflowVersions
  const previous = versionIs(
    tx,
    { versions: workflowVersions, ownerId: workflowVersions.workflowId },
    row.id,
    row.version,
  )
  const [last] = await tx.db
    .select({ createdAt, burstSince })
    .from(workflowVersions)
    .where(
      and(
        previous,
        eq(createdBy, tx.actor.id),
        isNull(publishedAt),
        gt(createdAt, new Date(now.getTime() - BURST_GAP_MS)),
        or(isNull(burstSince), gt(burstSince, new Date(now.getTime() - BURST_LENGTH_MS))),
      ),
    )
    // A start that is pinning this version right now has locked its row.
    .for('update', { skipLocked: true })
  if (!last) return null
  // A separate statement: only now, with the lock, are all runs that pinned the version visible.
  const pinned = tx.db
    .select({ one: sql`1` })
    .from(runs)
    .where(and(eq(runs.tenantId, tx.tenantId), eq(runs.workflowId, row.id), eq(runs.workflowVersion, row.version)))
  const { tenantId, workflowId, fromVersion } = runMoves
  const left = tx.db
    .select({ one: sql`1` })
    .from(runMoves)
    .where(and(eq(tenantId, tx.tenantId), eq(workflowId, row.id), eq(fromVersion, row.version)))
  const folded = await tx.db
    .delete(workflowVersions)
    .where(and(previous, notExists(pinned), notExists(left)))
    .returning({ version })
  return folded.length === 0 ? null : (last.burstSince ?? last.createdAt)
}
