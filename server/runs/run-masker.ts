import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../context'
import type { JsonLike, JsonObject } from '../definition/json'
import { sensitiveFields, textsUnder, withoutFields } from '../definition/sensitive'
import { pinnedDefinition } from '../interpreter/pinned-definition'
import { RUN_DATA } from '../interpreter/run-data'
import { type Masker, maskerOf } from '../vault/mask'
import { tenantMasker } from '../vault/masker'

/** A masker for what screens show of one run: the tenant's vault, and the fields that its workflow marks as sensitive. */
export interface RunMasker extends Masker {
  /** The names of those fields. */
  hides: ReadonlySet<string>
  /** Only the vault's. */
  vault: Masker
}

type Of = Pick<typeof runs.$inferSelect, 'id' | 'workflowId' | 'workflowVersion'>

/** Looking for each value in every text takes time, so a run has so many of them looked for. Shorter ones are in any text. */
const MOST_VALUES = 50
const SHORTEST_VALUE = 4

/** Reads values of the run only if its workflow has sensitive fields. */
export async function runMasker(ctx: ServiceContext, run: Of): Promise<RunMasker> {
  const [vault, definition] = await Promise.all([
    tenantMasker(ctx),
    pinnedDefinition(ctx, run.workflowId, run.workflowVersion),
  ])
  const hides = sensitiveFields(definition)
  if (hides.size === 0) return { ...vault, hides, vault }
  const [stored] = await ctx.db
    .select({ input: runs.input, data: RUN_DATA })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, run.id)))
  const values = valuesMasker([stored?.input ?? {}, stored?.data ?? {}], hides)
  return {
    hides,
    vault,
    text: (text) => vault.text(values.text(text)),
    json: <T extends JsonLike>(value: T) => vault.json(values.json(withoutFields(value, hides))),
    longest: Math.max(vault.longest, values.longest),
  }
}

/** A masker for the values of these fields, which may be in other fields too, and in texts. */
export function valuesMasker(stored: JsonObject[], hides: ReadonlySet<string>): Masker {
  const texts = new Set(textsUnder(stored, hides))
  return maskerOf([...texts].filter((text) => text.length >= SHORTEST_VALUE).slice(0, MOST_VALUES))
}

/** A masker for what screens show of the run with this id. */
export async function runMaskerOf(ctx: ServiceContext, runId: string): Promise<RunMasker> {
  const [run] = await ctx.db
    .select({ id: runs.id, workflowId: runs.workflowId, workflowVersion: runs.workflowVersion })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId)))
  if (run) return runMasker(ctx, run)
  const vault = await tenantMasker(ctx)
  return { ...vault, hides: new Set(), vault }
}
