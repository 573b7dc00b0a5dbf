import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { runIs } from '../../run-store/conditions'
import { maskWords } from '../../runs/mask-words'
import type { Masker } from '../../vault/mask'
import { stateOf } from './filter'

/** A parent or child run; null if it is missing or the caller may not see it. */
export async function readRelative(ctx: ServiceContext, runId: string | null | undefined, masker: Masker) {
  if (!runId) return null
  const [run] = await ctx.db
    .select({ runId: runs.id, workflowName: runs.workflowName, status: runs.status, outcome: runs.outcome })
    .from(runs)
    .where(runIs(ctx, runId))
  return run ? { runId, state: stateOf(run), ...maskWords({ workflowName: run.workflowName }, masker) } : null
}
