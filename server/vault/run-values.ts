import { and, eq, inArray } from 'drizzle-orm'
import { RUN_DATA } from '@/db/run-data'
import { runs } from '@/db/schema/runs'
import { workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { sensitiveFields } from '../definition/sensitive'
import { giveWay } from '../give-way'

/** The names of the sensitive fields of runs, by run: empty for a run without any, no entry for a missing run. */
export async function hiddenNames(
  ctx: ServiceContext,
  runIds: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> {
  if (runIds.length === 0) return new Map()
  const found = await ctx.db
    .select({ id: runs.id, workflowId: runs.workflowId, version: runs.workflowVersion })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), inArray(runs.id, [...runIds])))
  const versions = new Map<string, ReadonlySet<string>>()
  const named = new Map<string, ReadonlySet<string>>()
  // One by one: a definition may be large.
  for (const { id, workflowId, version } of found) {
    const key = `${workflowId}@${version}`
    const names = versions.get(key) ?? (await namesOf(ctx, workflowId, version))
    versions.set(key, names)
    named.set(id, names)
  }
  return named
}

async function namesOf(ctx: ServiceContext, workflowId: string, version: number): Promise<ReadonlySet<string>> {
  const { tenantId, workflowId: of, version: number, definition } = workflowVersions
  const [row] = await ctx.db
    .select({ definition })
    .from(workflowVersions)
    .where(and(eq(tenantId, ctx.tenantId), eq(of, workflowId), eq(number, version)))
  await giveWay(ctx.tenantId)
  return row ? sensitiveFields(row.definition) : new Set()
}

/** The input and the data of a run. */
export async function valuesOfRun(ctx: ServiceContext, runId: string): Promise<JsonObject[]> {
  const [stored] = await ctx.db
    .select({ input: runs.input, data: RUN_DATA })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId)))
  return [stored?.input ?? {}, stored?.data ?? {}]
}
