import type { ServiceContext } from '../context'
import { ImpossibleState } from '../errors'
import type { JsonObject } from '../json'
import { getToolVersion } from './find'
import { runScriptTool } from './kinds/script'
import type { ToolOutcome } from './schema'

/** What a kind of tool is given: the caller's words, and the verified context the caller cannot alter. */
export interface ToolCall {
  args: JsonObject
  dataContext: JsonObject
  context: JsonObject | null
  signal: AbortSignal
  idempotencyKey: string | null
}

const KINDS: Record<string, (config: unknown, call: ToolCall) => Promise<ToolOutcome>> = { script: runScriptTool }

/**
 * Runs a version of a tool. A failure of the tool's own logic is an outcome, not an error.
 * @throws AppError TOOL_NOT_FOUND
 */
export async function runTool(
  ctx: ServiceContext,
  input: { toolId: string; version?: string | number | undefined; args: JsonObject; dataContext: JsonObject },
  options: { signal: AbortSignal; idempotencyKey?: string },
): Promise<ToolOutcome> {
  const tool = await getToolVersion(ctx, input.toolId, input.version ?? 'latest')
  const run = KINDS[tool.kind]
  if (!run) throw new ImpossibleState('tool-kind', `tool ${tool.id} has the unknown kind ${tool.kind}`)
  return run(tool.config, {
    args: input.args,
    dataContext: input.dataContext,
    context: ctx.trusted,
    signal: options.signal,
    idempotencyKey: options.idempotencyKey ?? null,
  })
}
