import { workflows, workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import type { Layout } from '../definition/layout'
import type { Definition } from '../definition/schema'
import { ImpossibleState } from '../errors'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { firstDraft } from '../versioned/columns'
import { newDefinition } from './definition'
import { type PresentedWorkflow, presentWorkflow } from './present'
import { CreateWorkflow } from './schema'

/**
 * A new draft. Only `name` is required: an incomplete graph is a legal draft, completeness is judged at publish.
 * @throws AppError INVALID_INPUT
 */
export async function createWorkflow(ctx: ServiceContext, input: unknown): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:write')
  const definition = newDefinition(parseInput(CreateWorkflow, input))
  return withTransaction(ctx, async (tx) => insertWorkflow(tx, newId('wf'), definition))
}

/** Writes the first version. Used by the samples too, which have fixed ids. */
export async function insertWorkflow(
  ctx: ServiceContext,
  id: string,
  definition: Definition,
  layout: Layout = {},
): Promise<PresentedWorkflow> {
  const draft = firstDraft(ctx)
  await ctx.db.insert(workflowVersions).values({
    tenantId: ctx.tenantId,
    workflowId: id,
    version: 1,
    name: definition.name,
    definition,
    createdBy: draft.createdBy,
    createdAt: draft.createdAt,
  })
  const [row] = await ctx.db
    .insert(workflows)
    .values({ ...draft, id, name: definition.name, description: definition.description, layout })
    .returning()
  if (!row) throw new ImpossibleState('workflow-insert', 'an insert returned no row')
  return presentWorkflow(row, definition)
}
