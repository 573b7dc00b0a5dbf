import { tenants } from '@/db/schema/tenants'
import { slugCandidates } from '@/lib/slug'
import { record } from '../audit/record'
import { type ServiceContext, withTransaction } from '../context'
import { ImpossibleState } from '../errors'

/** Creates an empty tenant. Its id is the context's; its slug comes from the name. */
export async function createTenant(
  ctx: ServiceContext,
  input: { name: string },
): Promise<{ tenantId: string; slug: string }> {
  return withTransaction(ctx, async (tx) => {
    for (const slug of slugCandidates(input.name)) {
      const row = { id: tx.tenantId, slug, name: input.name, createdAt: tx.now() }
      const made = await tx.db.insert(tenants).values(row).onConflictDoNothing({ target: tenants.slug }).returning()
      if (made.length === 0) continue
      await record(tx, 'workspace.created', row, { slug })
      return { tenantId: tx.tenantId, slug }
    }
    throw new ImpossibleState('no-slug', 'the candidates never end')
  })
}
