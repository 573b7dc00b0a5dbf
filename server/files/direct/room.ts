import { and, count, eq, gt, isNotNull, ne, not, or, type SQL, sql } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { tenants } from '@/db/schema/tenants'
import { agentTurns } from '@/db/schema/turns'
import type { TransactionContext } from '../../context'
import { AppError } from '../../errors'
import { INCOMPLETE, isOfForm, ofForms, open, unclaimed, uploadedBy } from './find'
import { CANCELLED_TIMES, OPEN_OF_FORMS, OPEN_PER_CALLER, OPEN_PER_LINK, OPEN_PER_TENANT, UPLOAD_MS } from './limits'

type Room = Pick<TransactionContext, 'db' | 'tenantId' | 'actor' | 'now'>

/**
 * Makes sure, in the transaction that begins an upload, that its caller may have one more.
 * @throws AppError CONFLICT if too many uploads are still unused
 */
export async function requireRoom(ctx: Room, by: string): Promise<void> {
  // Uploads of a workspace begin one after the other, so that none is counted too late.
  await ctx.db.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, ctx.tenantId)).for('no key update')
  // Bytes of an upload that began longer ago are no longer taken.
  const arriving = gt(files.createdAt, new Date(ctx.now().getTime() - UPLOAD_MS))
  const waiting = and(open, not(inTurn(ctx)), or(ne(files.sha256, INCOMPLETE), arriving))
  const cancelled = and(unclaimed, isNotNull(files.condemnedAt), arriving)
  for (const [whose, atMost] of isOfForm({ uploadedBy: by }) ? placesOfForms(ctx, by) : placesOfCallers(by)) {
    const [found] = await ctx.db
      .select({ waiting: sql<number>`count(*) filter (where ${waiting})::int`, all: count() })
      .from(files)
      .where(and(eq(files.tenantId, ctx.tenantId), whose, or(waiting, cancelled)))
    if (found && found.waiting < atMost && found.all < CANCELLED_TIMES * atMost) continue
    throw new AppError('CONFLICT', { message: 'Too many uploads are still unused. Try again later' })
  }
}

/** Whether a turn that is under way has the file: it takes it with its answer, or fails. */
function inTurn({ now }: Room): SQL {
  return sql`exists (select from ${agentTurns} t, json_array_elements(t.request->'files') one
    where t.tenant_id = files.tenant_id and t.leased_until > ${now().toISOString()}::timestamptz
      and one->>'fileId' = files.id::text)`
}

type Places = [whose: SQL, atMost: number][]

function placesOfCallers(by: string): Places {
  return [
    [eq(files.uploadedBy, by), OPEN_PER_CALLER],
    [not(ofForms), OPEN_PER_TENANT],
  ]
}

function placesOfForms(ctx: Room, by: string): Places {
  return [
    [eq(files.uploadedBy, by), OPEN_PER_CALLER],
    [uploadedBy(ctx), OPEN_PER_LINK],
    [ofForms, OPEN_OF_FORMS],
  ]
}
