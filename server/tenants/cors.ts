import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { corsOrigins } from '@/db/schema/cors'
import { recordChanges } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { differences } from '../definition/audit'
import { parseInput } from '../parse'
import { getTenant } from './find'

const Origin = z
  .string()
  .max(261)
  .refine((text) => URL.canParse(text) && /^https?:\/\/[a-z0-9.:[\]-]+$/.test(text) && new URL(text).origin === text, {
    message: 'must be an origin such as https://app.example.com, without a path and without wildcards',
  })
const SetOrigins = z.object({ origins: z.array(Origin).max(100) })

/**
 * Replaces the list of origins whose pages may call the API with this tenant's tokens.
 * @throws AppError INVALID_INPUT, NOT_FOUND, FORBIDDEN
 */
export async function setCorsOrigins(
  ctx: ServiceContext,
  input: unknown,
): Promise<{ tenantId: string; origins: string[] }> {
  authorize(ctx, 'settings:manage')
  const origins = [...new Set(parseInput(SetOrigins, input).origins)].sort()
  return withTransaction(ctx, async (tx) => {
    // Locks the tenant: of two concurrent changes, the later sees the earlier one.
    const { name } = await getTenant(tx, { lock: true })
    const { tenantId } = tx
    const gone = await tx.db.delete(corsOrigins).where(eq(corsOrigins.tenantId, tenantId)).returning()
    const rows = origins.map((origin) => ({ tenantId, origin, createdAt: tx.now() }))
    if (rows.length > 0) await tx.db.insert(corsOrigins).values(rows)
    const from = gone.map((row) => row.origin).sort()
    const changed = differences({ origins: from }, { origins })
    await recordChanges(tx, 'workspace.corsChanged', { id: tenantId, name }, changed)
    return { tenantId, origins }
  })
}

/** @throws AppError FORBIDDEN */
export async function listCorsOrigins(ctx: ServiceContext): Promise<string[]> {
  authorize(ctx, 'settings:manage')
  const rows = await ctx.db.select().from(corsOrigins).where(eq(corsOrigins.tenantId, ctx.tenantId))
  return rows.map((row) => row.origin).sort()
}
