import { sql } from 'drizzle-orm'
import { appliedDefinitions } from '@/db/schema/applied'
import type { TransactionContext } from '../context'

type Applied = Pick<typeof appliedDefinitions.$inferInsert, 'kind' | 'id' | 'version' | 'fingerprint' | 'archived'>

/** Records what was applied, and by whom, to detect drift. */
export async function noteApplied(tx: TransactionContext, applied: readonly Applied[]): Promise<void> {
  if (applied.length === 0) return
  const by = { tenantId: tx.tenantId, appliedBy: tx.actor.id, appliedAt: tx.now() }
  const { tenantId, kind, id } = appliedDefinitions
  await tx.db
    .insert(appliedDefinitions)
    .values(applied.map((row) => ({ ...row, ...by })))
    .onConflictDoUpdate({
      target: [tenantId, kind, id],
      set: {
        version: sql`excluded.version`,
        fingerprint: sql`excluded.fingerprint`,
        archived: sql`excluded.archived`,
        appliedBy: sql`excluded.applied_by`,
        appliedAt: sql`excluded.applied_at`,
      },
    })
}
