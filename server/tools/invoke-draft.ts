import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject } from '../definition/json'
import { parseWhole } from '../parse'
import { reported } from './invoke'
import { loadDraftTool } from './load-draft'
import { runLoaded } from './run'
import { InvokeTool } from './schema'

/**
 * Runs a tool as it is being edited, saved or not.
 * @param input.body `draft` has the body of an update
 * @throws AppError TOOL_INVOCATION_FAILED, UNAVAILABLE, and what `loadDraftTool` throws
 */
export async function invokeDraftTool(
  ctx: ServiceContext,
  input: { toolId: string; body: unknown },
  signal: AbortSignal,
) {
  authorize(ctx, 'tool:invoke')
  const { args, dataContext } = parseWhole(InvokeTool, input.body, ['draft'])
  const tool = await loadDraftTool(ctx, input.toolId, isJsonObject(input.body) ? input.body.draft : undefined)
  return reported(() => runLoaded(ctx, tool, { args, dataContext }, { signal }), signal)
}
