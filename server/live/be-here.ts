import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { StepRef } from '../definition/step-ref'
import { AppError } from '../errors'
import { isId } from '../ids'
import { parseInput } from '../parse'
import { LIVE_CHANNEL, liveChanges, type Notice, takePlace } from './channel'
import { type Place, type Present, whoIsAt } from './places'
import { Tab } from './schema'

export const BeHere = z.object({
  id: z.string().max(100),
  tab: Tab,
  stepId: StepRef.nullable(),
  /** The version that the page's draft is based on. */
  version: z.number().int().min(0).optional(),
  /** The page is closing. */
  gone: z.boolean().optional(),
})
export type BeHere = z.input<typeof BeHere>

/**
 * Records where the caller's tab is in a workflow. Pages repeat this every few seconds: nothing is stored, and presence
 * expires without repeats.
 * @returns who else has it open, and the newest version: if it differs from the page's, someone saved
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function beHere(ctx: ServiceContext, input: unknown): Promise<{ people: Present[]; version: number }> {
  authorize(ctx, 'workflow:read')
  const { id, tab, stepId, version = null, gone = false } = parseInput(BeHere, input)
  const { actor, tenantId } = ctx
  // Only the dashboard calls this.
  const person = { id: actor.id, name: actor.kind === 'user' ? actor.name.slice(0, 100) : '' }
  const place: Place = { tenantId, workflowId: id, tab, stepId, version, person }
  // Keeps this process listening until the page reports again.
  liveChanges.use().release()
  const notice: Notice = { place, gone }
  const [found] = isId(id)
    ? await ctx.db
        .select({ version: workflows.version, notice: sql`pg_notify(${LIVE_CHANNEL}, ${JSON.stringify(notice)})` })
        .from(workflows)
        .where(and(eq(workflows.tenantId, tenantId), eq(workflows.id, id)))
    : []
  if (!found) throw new AppError('WORKFLOW_NOT_FOUND')
  takePlace(place, gone)
  const people = whoIsAt(tenantId, id).filter((other) => other.id !== person.id)
  return { people, version: found.version }
}
