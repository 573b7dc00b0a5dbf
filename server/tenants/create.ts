import { tenants } from '@/db/schema/tenants'
import type { ServiceContext } from '../context'
import { ImpossibleState } from '../errors'
import { slugCandidates } from '../slug'

/** Creates an empty tenant. Its id is the context's; its slug comes from the name. */
export async function createTenant(
  ctx: ServiceContext,
  input: { name: string },
): Promise<{ tenantId: string; slug: string }> {
  for (const slug of slugCandidates(input.name)) {
    const row = { id: ctx.tenantId, slug, name: input.name, createdAt: ctx.now() }
    const made = await ctx.db.insert(tenants).values(row).onConflictDoNothing({ target: tenants.slug }).returning()
    if (made.length > 0) return { tenantId: ctx.tenantId, slug }
  }
  throw new ImpossibleState('no-slug', 'the candidates never end')
}
