import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { z } from 'zod'
import { RUN_DATA, RUN_DATA_BYTES } from '@/db/run-data'
import { runs, stepRecords } from '@/db/schema/runs'
import { wholeChars } from '@/lib/whole-chars'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { expand } from '../../definition/expand'
import type { JsonObject, JsonValue } from '../../definition/json'
import { withoutFields } from '../../definition/sensitive'
import { StepRef } from '../../definition/step-ref'
import { foundAt, readReference, referenceText } from '../../definition/template'
import { inSlices } from '../../give-way'
import { lookupWith } from '../../interpreter/flow/index'
import { parseInput } from '../../parse'
import { runMaskerOf } from '../../runs/run-masker'
import { findRow } from '../../versioned/rows'
import { flowing } from '../../workflows/check/flow'
import { knownOutputs } from '../../workflows/check/known-outputs'
import { stepsLeadingTo } from '../../workflows/check/leading-to'
import { type ScopeEntry, scopeOf } from '../../workflows/check/scope'
import { newDefinition } from '../../workflows/definition'
import { WORKFLOW } from '../../workflows/noun'
import { CreateWorkflow } from '../../workflows/schema'

const ReadScope = z.object({
  workflowId: z.string(),
  /** The definition in the editor, saved or not. */
  definition: CreateWorkflow.extend({ name: z.string().max(10_000).default('') }),
  stepId: StepRef,
})
export type ReadScope = z.input<typeof ReadScope>

/** Larger run data is not worth reading for a hint. */
const MAX_DATA_BYTES = 1_000_000
const LAST_CHARS = 120

export interface Scope {
  /** `last` is the value's JSON in the newest run, cut short; null without one. */
  entries: (ScopeEntry & { last: string | null })[]
  /** An earlier step may add fields of any name, so other names may be valid too. */
  open: boolean
  run: { id: string; startTime: string } | null
}

/**
 * The names `${…}` can refer to in a step, with types and the newest run's values.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function readScope(ctx: ServiceContext, input: unknown): Promise<Scope> {
  authorize(ctx, 'workflow:read')
  const { workflowId, definition: sent, stepId } = parseInput(ReadScope, input)
  const definition = newDefinition(sent)
  const row = await findRow(ctx, WORKFLOW, workflowId)
  const expanded = expand(definition)
  const outputs = await knownOutputs(ctx, expanded, stepsLeadingTo(expanded, stepId))
  const flow = await inSlices(ctx.tenantId, flowing(expanded, outputs))
  const { entries, open } = scopeOf(definition, stepId, flow)
  const last = await newestRun(ctx, row.id, entries)
  return {
    entries: entries.map((entry) => ({ ...entry, last: last?.lastOf(entry.name) ?? null })),
    open,
    run: last && { id: last.id, startTime: last.startTime.toISOString() },
  }
}

async function newestRun(ctx: ServiceContext, workflowId: string, entries: ScopeEntry[]) {
  const [run] = await ctx.db
    .select({
      id: runs.id,
      startTime: runs.startTime,
      data: sql<JsonObject | null>`case when ${sql.raw(RUN_DATA_BYTES)} < ${MAX_DATA_BYTES} then ${RUN_DATA} end`,
    })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.workflowId, workflowId)))
    .orderBy(desc(runs.startTime), desc(runs.id))
    .limit(1)
  if (!run) return null
  const masker = await runMaskerOf(ctx, run.id)
  const data = withoutFields(run.data ?? {}, masker.hides)
  const stored = await outputsOf(
    ctx,
    run.id,
    entries.flatMap(({ name, stepId }) =>
      stepId !== null && name === referenceText([stepId]) && !Object.hasOwn(data, stepId) ? [stepId] : [],
    ),
  )
  const outputs = withoutFields(stored, masker.hides)
  const lastOf = (name: string): string | null => {
    if (name === '_') return null
    const found = foundAt(readReference(name), lookupWith(data, outputs))
    if (found === undefined) return null
    const text = JSON.stringify(masker.json(found))
    return text.length <= LAST_CHARS ? text : `${wholeChars(text, LAST_CHARS)}…`
  }
  return { id: run.id, startTime: run.startTime, lastOf }
}

async function outputsOf(ctx: ServiceContext, runId: string, stepIds: string[]): Promise<Record<string, JsonValue>> {
  if (stepIds.length === 0) return {}
  const output = sql<JsonValue>`case when pg_column_size(${stepRecords.outputData}) < ${MAX_DATA_BYTES} then ${stepRecords.outputData} end`
  const rows = await ctx.db
    .selectDistinctOn([stepRecords.stepId], { stepId: stepRecords.stepId, output })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, ctx.tenantId),
        eq(stepRecords.runId, runId),
        inArray(stepRecords.stepId, stepIds),
        eq(stepRecords.status, 'completed'),
      ),
    )
    .orderBy(stepRecords.stepId, desc(stepRecords.seq))
  return Object.fromEntries(rows.flatMap((row) => (row.output === null ? [] : [[row.stepId, row.output]])))
}
