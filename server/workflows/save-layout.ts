import { z } from 'zod'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import type { Layout } from '../definition/layout'
import { StepId } from '../definition/step-ref'
import { parseInput } from '../parse'
import { findContent, findRow, rowIs } from '../versioned/rows'
import { WORKFLOW } from './noun'

const coordinate = z.number().min(-1_000_000).max(1_000_000)

const SaveLayout = z.object({
  id: z.string(),
  /** By step id; START is `#start`. */
  layout: z
    .record(z.union([z.literal('#start'), StepId]), z.object({ x: coordinate, y: coordinate }))
    .refine((layout) => Object.keys(layout).length <= 2001, 'has more positions than a workflow can have steps'),
})
export type SaveLayout = z.input<typeof SaveLayout>

/**
 * Saves the positions of nodes. This makes no version and does not count as a change: `version` and `updatedAt` stay.
 * Positions of other steps stay; those of deleted steps are dropped.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function saveLayout(ctx: ServiceContext, input: unknown): Promise<{ layout: Layout }> {
  authorize(ctx, 'workflow:write')
  const { id, layout } = parseInput(SaveLayout, input)
  return withTransaction(ctx, async (tx) => {
    const row = await findRow(tx, WORKFLOW, id, { lock: true })
    const { steps } = await findContent(tx, WORKFLOW, row)
    const known = new Set([...steps.map((step) => step.id), '#start'])
    const kept = Object.entries(row.layout).filter(([stepId]) => known.has(stepId))
    const merged = { ...Object.fromEntries(kept), ...layout }
    await tx.db
      .update(workflows)
      .set({ layout: merged })
      .where(rowIs(tx, WORKFLOW, id))
    return { layout: merged }
  })
}
