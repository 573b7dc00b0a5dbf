import type { ServiceContext } from '../context'
import { ImpossibleState } from '../errors'
import type { JsonObject } from '../json'
import { runBuiltinTool } from './builtin'
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

type RunKind = (config: unknown, call: ToolCall, ctx: ServiceContext) => Promise<ToolOutcome>
const KINDS: Record<string, RunKind> = { script: runScriptTool, builtin: runBuiltinTool }

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
  const call: ToolCall = {
    args: input.args,
    dataContext: input.dataContext,
    context: ctx.trusted,
    signal: options.signal,
    idempotencyKey: options.idempotencyKey ?? null,
  }
  return run(tool.config, call, ctx)
}
