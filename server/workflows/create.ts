import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { create } from '../versioned/create'
import { newDefinition } from './definition'
import { WORKFLOW } from './noun'
import type { PresentedWorkflow } from './present'
import { CreateWorkflow } from './schema'

/**
 * Creates a draft. Only `name` is required: a draft may be an incomplete graph, which publish and start check.
 * @throws AppError INVALID_INPUT
 */
export async function createWorkflow(ctx: ServiceContext, input: unknown): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:write')
  const definition = newDefinition(parseInput(CreateWorkflow, input))
  return withTransaction(ctx, (tx) => create(tx, WORKFLOW, newId(WORKFLOW.idPrefix), definition))
}
