import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import type { Layout } from '../definition/layout'
import { StepId } from '../definition/step-ref'
import { parseInput } from '../parse'
import { findContent, findRow, rowIs } from '../versioned/rows'
import { WORKFLOW } from './noun'

/** A workflow's steps and START. */
const MOST = 2001
/** The published versions that are looked at for deleted steps, newest first. */
const VERSIONS = 50

const coordinate = z.number().min(-1_000_000).max(1_000_000)

const SaveLayout = z.object({
  id: z.string(),
  /** By step id; START is `#start`. */
  layout: z
    .record(z.union([z.literal('#start'), StepId]), z.object({ x: coordinate, y: coordinate }))
    .refine((layout) => Object.keys(layout).length <= MOST, 'has more positions than a workflow can have steps'),
})
export type SaveLayout = z.input<typeof SaveLayout>

/**
 * Saves the positions of nodes. This makes no version and does not count as a change: `version` and `updatedAt` stay.
 * Positions of other steps stay, those of deleted steps as long as a published version has the step: a comparison shows it
 * where it was.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function saveLayout(ctx: ServiceContext, input: unknown): Promise<{ layout: Layout }> {
  authorize(ctx, 'workflow:write')
  const { id, layout } = parseInput(SaveLayout, input)
  return withTransaction(ctx, async (tx) => {
    const row = await findRow(tx, WORKFLOW, id, { lock: true })
    const { steps } = await findContent(tx, WORKFLOW, row)
    const known = new Set([...steps.map((step) => step.id), '#start'])
    const old = Object.entries(row.layout).filter(([stepId]) => !Object.hasOwn(layout, stepId))
    const gone = old.map(([stepId]) => stepId).filter((stepId) => !known.has(stepId))
    const published = gone.length === 0 ? new Set<string>() : await publishedSteps(tx, id, gone)
    const current = [...Object.entries(layout), ...old.filter(([stepId]) => known.has(stepId))]
    const deleted = old.filter(([stepId]) => published.has(stepId)).slice(0, Math.max(0, MOST - current.length))
    const merged = Object.fromEntries([...deleted, ...current])
    await tx.db
      .update(workflows)
      .set({ layout: merged })
      .where(rowIs(tx, WORKFLOW, id))
    return { layout: merged }
  })
}

/** Those of some steps that a published version has. Extracted in the database, because definitions may be large. */
async function publishedSteps(ctx: ServiceContext, id: string, stepIds: string[]): Promise<Set<string>> {
  const rows = await ctx.db.execute<{ id: string }>(sql`
    select distinct step->>'id' as id
    from (
      select v.definition from ${workflowVersions} v
      where v.tenant_id = ${ctx.tenantId} and v.workflow_id = ${id} and v.published_at is not null
      order by v.version desc limit ${VERSIONS}) v
    cross join lateral json_array_elements(v.definition->'steps') step
    where step->>'id' in (select json_array_elements_text(${JSON.stringify(stepIds)}::text::json))`)
  return new Set(rows.map((row) => row.id))
}
