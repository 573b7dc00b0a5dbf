import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { copyName } from '../versioned/copy-name'
import { refuseBuiltin } from './builtin'
import { insertTool } from './create'
import { getToolRow, getVersionRow } from './find'
import { definitionOf, type PresentedTool } from './present'
import { MAX_NAME } from './schema'

/**
 * A new draft that does what the tool last did; an archived one may be duplicated, too.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export async function duplicateTool(ctx: ServiceContext, id: string): Promise<PresentedTool> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(id)
  return withTransaction(ctx, async (tx) => {
    const row = await getToolRow(tx, id)
    const tool = definitionOf(await getVersionRow(tx, row, row.version))
    return insertTool(tx, { ...tool, name: copyName(tool.name, MAX_NAME) })
  })
}
