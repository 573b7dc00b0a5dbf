import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { create } from '../versioned/create'
import { newTool } from './definition'
import { TOOL } from './noun'
import type { PresentedTool } from './present'
import { CreateTool } from './schema'

/**
 * Creates a draft, which can be called at once as `latest`.
 * @throws AppError INVALID_INPUT
 */
export async function createTool(ctx: ServiceContext, input: unknown): Promise<PresentedTool> {
  authorize(ctx, 'tool:write')
  const tool = newTool(parseInput(CreateTool, input))
  return withTransaction(ctx, (tx) => create(tx, TOOL, newId(TOOL.idPrefix), tool))
}
