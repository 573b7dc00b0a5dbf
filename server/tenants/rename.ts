import { eq } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { tenants } from '@/db/schema/tenants'
import { slugCandidates } from '@/lib/slug'
import { record } from '../audit/record'
import type { TransactionContext } from '../context'
import { ImpossibleState } from '../errors'

/** The id of the tenant that has this slug; null if it is free. */
export async function takenBy(db: Db | Tx, slug: string): Promise<string | null> {
  const [row] = await db.select({ id: tenants.id }).from(tenants).where(eq(tenants.slug, slug))
  return row?.id ?? null
}

/** Renames the caller's tenant and derives its slug again. Only for a tenant whose address has not been used yet. */
export async function renameTenant(tx: TransactionContext, name: string): Promise<{ slug: string }> {
  for (const slug of slugCandidates(name)) {
    const owner = await takenBy(tx.db, slug)
    if (owner !== null && owner !== tx.tenantId) continue
    await tx.db.update(tenants).set({ name, slug }).where(eq(tenants.id, tx.tenantId))
    await record(tx, 'workspace.renamed', { id: tx.tenantId, name }, { slug })
    return { slug }
  }
  throw new ImpossibleState('no-slug', 'the candidates never end')
}
