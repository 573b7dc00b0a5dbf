import { and, eq, inArray } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import { sensitiveFields } from '../definition/sensitive'
import { pinnedDefinition } from '../run-store/definition'
import { hidingMasker, hidingNothing, type RunMasker } from '../vault/hide'
import type { Masker } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import { valuesOfRun } from '../vault/run-values'

type Of = Pick<typeof runs.$inferSelect, 'id' | 'workflowId' | 'workflowVersion'>
const OF = { id: runs.id, workflowId: runs.workflowId, workflowVersion: runs.workflowVersion }

/** A masker for everything that the caller sees of a run. */
export async function callerMasker(ctx: ServiceContext, run: Of, vault: Masker): Promise<RunMasker> {
  return seesHidden(ctx) ? runMasker(ctx, run, vault) : hidingNothing(vault)
}

/** The same for the run with this id; without one, only the vault's. */
export async function callerMaskerOf(ctx: ServiceContext, runId: string | null): Promise<RunMasker> {
  if (runId !== null && seesHidden(ctx)) return runMaskerOf(ctx, runId)
  const vault = await tenantMasker(ctx)
  return hidingNothing(vault)
}

/** The same for the runs of a list. */
export async function callerMaskersOf(
  ctx: ServiceContext,
  rows: readonly { runId: string | null }[],
): Promise<(row: { runId: string | null }) => RunMasker> {
  const vault = await tenantMasker(ctx)
  const ids = seesHidden(ctx) ? [...new Set(rows.flatMap(({ runId }) => runId ?? []))] : []
  const found =
    ids.length === 0
      ? []
      : await ctx.db
          .select(OF)
          .from(runs)
          .where(and(eq(runs.tenantId, ctx.tenantId), inArray(runs.id, ids)))
  const maskers = new Map(
    await Promise.all(found.map(async (run) => [run.id, await runMasker(ctx, run, vault)] as const)),
  )
  const nothing = hidingNothing(vault)
  return ({ runId }) => maskers.get(runId ?? '') ?? nothing
}

/** Reads values of the run only if its workflow has sensitive fields. */
export async function runMasker(ctx: ServiceContext, run: Of, known?: Masker): Promise<RunMasker> {
  const [vault, definition] = await Promise.all([
    known ?? tenantMasker(ctx),
    pinnedDefinition(ctx, run.workflowId, run.workflowVersion),
  ])
  const hides = sensitiveFields(definition)
  if (hides.size === 0) return hidingNothing(vault)
  return hidingMasker(vault, hides, await valuesOfRun(ctx, run.id))
}

/** A masker for everything that screens show of the run with this id. */
export async function runMaskerOf(ctx: ServiceContext, runId: string): Promise<RunMasker> {
  const [run] = await ctx.db
    .select(OF)
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId)))
  if (run) return runMasker(ctx, run)
  const vault = await tenantMasker(ctx)
  return hidingNothing(vault)
}
