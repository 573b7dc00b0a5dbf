import { tools, toolVersions } from '@/db/schema/tools'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { ImpossibleState } from '../errors'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { firstDraft } from '../versioned/columns'
import { newTool } from './definition'
import { type PresentedTool, presentTool } from './present'
import { CreateTool, type ToolDefinition } from './schema'

/**
 * A new draft. It can be called at once as `latest`.
 * @throws AppError INVALID_INPUT
 */
export async function createTool(ctx: ServiceContext, input: unknown): Promise<PresentedTool> {
  authorize(ctx, 'tool:write')
  const tool = newTool(parseInput(CreateTool, input))
  return withTransaction(ctx, (tx) => insertTool(tx, tool))
}

/** Writes the first version of a new tool. */
export async function insertTool(tx: TransactionContext, tool: ToolDefinition): Promise<PresentedTool> {
  const id = newId('tool')
  const draft = firstDraft(tx)
  const { tenantId, createdBy, createdAt } = draft
  const { name, description } = tool
  const [row] = await tx.db
    .insert(tools)
    .values({ ...draft, id, name, description })
    .returning()
  await tx.db.insert(toolVersions).values({ ...tool, tenantId, toolId: id, version: 1, createdBy, createdAt })
  if (!row) throw new ImpossibleState('tool-insert', 'an insert returned no row')
  return presentTool(row, tool)
}
