import { and, eq } from 'drizzle-orm'
import { tools, toolVersions } from '@/db/schema/tools'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError, ImpossibleState } from '../errors'
import { parseInput } from '../parse'
import { expectVersion, readIfMatch } from '../versioned/expected-version'
import { refuseBuiltin } from './builtin'
import { mergeTool, sameTool } from './definition'
import { getToolRow, getVersionRow } from './find'
import { definitionOf, type PresentedTool, presentTool } from './present'
import { UpdateTool } from './schema'

/**
 * Saves a change as the next version; one that changes nothing makes none. The status stays: who asks for
 * `published` goes on getting what is published.
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function updateTool(
  ctx: ServiceContext,
  input: { id: string; body: unknown; ifMatch?: string | null },
): Promise<PresentedTool> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  const ifMatch = readIfMatch(input.ifMatch)
  const change = parseInput(UpdateTool, input.body)
  return withTransaction(ctx, async (tx) => {
    const row = await getToolRow(tx, input.id, { lock: true })
    if (row.status === 'archived') throw new AppError('TOOL_ARCHIVED')
    expectVersion(row, { ifMatch, version: change.version })
    const current = definitionOf(await getVersionRow(tx, row, row.version))
    const tool = mergeTool(current, change)
    if (sameTool(current, tool)) return presentTool(row, current)
    const now = tx.now()
    const by = tx.actor.id
    const version = row.version + 1
    await tx.db
      .insert(toolVersions)
      .values({ ...tool, tenantId: tx.tenantId, toolId: row.id, version, createdBy: by, createdAt: now })
    const { name, description } = tool
    const [saved] = await tx.db
      .update(tools)
      .set({ name, description, version, updatedBy: by, updatedAt: now })
      .where(and(eq(tools.tenantId, tx.tenantId), eq(tools.id, row.id)))
      .returning()
    if (!saved) throw new ImpossibleState('tool-save', 'a locked row was not updated')
    return presentTool(saved, tool)
  })
}
