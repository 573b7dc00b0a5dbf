import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject } from '../definition/json'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { findWhole, refuseProblems } from '../versioned/rows'
import { refuseBuiltin } from './builtin'
import { mergeTool } from './definition'
import { reported } from './invoke'
import { TOOL } from './noun'
import { runLoaded } from './run'
import { InvokeTool, UpdateTool } from './schema'

/**
 * Runs a tool as somebody is editing it, saved or not, by the rules that apply to a saved one.
 * @param input.body `draft` has the body of an update
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, INVALID_INPUT, TOOL_INVOCATION_FAILED, UNAVAILABLE, CONFLICT for a
 * built-in tool
 */
export async function invokeDraftTool(
  ctx: ServiceContext,
  input: { toolId: string; body: unknown },
  signal: AbortSignal,
) {
  authorize(ctx, 'tool:write')
  authorize(ctx, 'tool:invoke')
  refuseBuiltin(input.toolId)
  const { args, dataContext } = parseInput(InvokeTool, input.body)
  const change = parseInput(UpdateTool, isJsonObject(input.body) ? input.body.draft : undefined)
  const { row, content } = await findWhole(ctx, TOOL, input.toolId)
  if (row.status === 'archived') throw new AppError('TOOL_ARCHIVED')
  const { id, version } = row
  const draft = mergeTool(content, change)
  await refuseProblems(ctx, TOOL, draft)
  return reported(() => runLoaded(ctx, { ...draft, id, version }, { args, dataContext }, { signal }))
}
