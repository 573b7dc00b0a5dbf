import { tenants } from '@/db/schema/tenants'
import type { ServiceContext } from '../context'

/** A new, empty tenant. The id is the context's. */
export async function createTenant(ctx: ServiceContext, input: { name: string }): Promise<{ tenantId: string }> {
  await ctx.db.insert(tenants).values({ id: ctx.tenantId, name: input.name, createdAt: ctx.now() })
  return { tenantId: ctx.tenantId }
}
