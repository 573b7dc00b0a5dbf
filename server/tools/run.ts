import type { ServiceContext } from '../context'
import type { JsonObject, JsonValue } from '../definition/json'
import { AppError, ImpossibleState } from '../errors'
import { traced } from '../telemetry/traces'
import { isComputingTool, runBuiltinTool } from './builtin'
import type { ToolCall } from './call'
import { loadTool } from './find'
import { mismatches } from './json-schema'
import { runHttpTool } from './kinds/http'
import { runMcpTool } from './kinds/mcp'
import { runScriptTool, scriptOnlyComputes } from './kinds/script'
import type { LoadedTool } from './loaded'
import { isQuickScript, timedScript } from './quick-scripts'
import { detailTexts, type ToolOutcome, toolFailure } from './schema'

type RunKind = (config: JsonValue, call: ToolCall, ctx: ServiceContext) => Promise<ToolOutcome>
const KINDS: Record<string, RunKind> = {
  script: runScriptTool,
  builtin: runBuiltinTool,
  http: runHttpTool,
  mcp: runMcpTool,
}

type Work = () => Promise<ToolOutcome>

interface Called {
  toolId: string
  version?: string | number | undefined
}

/** Whether this process's last call of this tool ran a script that only computes, and was quick. */
export function isQuickTool(tenantId: string, called: Called): boolean {
  return isQuickScript(toolKey(tenantId, called))
}

function toolKey(tenantId: string, { toolId, version = 'latest' }: Called): string {
  return `${tenantId}/${toolId}/${version}`
}

/** Whether a call of the tool reaches nothing outside, so that it can be repeated. */
export function onlyComputes({ id, kind, config }: LoadedTool): boolean {
  return kind === 'script' ? scriptOnlyComputes(config) : isComputingTool(id)
}

/**
 * Runs a version of a tool. A failure in the tool itself is an outcome, not an error; its `transient` and
 * `retryAfterMs` are internal and must not be shown.
 * @throws AppError TOOL_NOT_FOUND; INVALID_INPUT if the arguments do not match the tool's input schema; UNAVAILABLE if
 * it waited too long for a slot and never ran
 * @param options `inline` rejects a tool that does more than compute; `tool` passes one that is already loaded
 */
export async function runTool(
  ctx: ServiceContext,
  input: Called & { args: JsonObject; dataContext: JsonObject },
  options: {
    signal: AbortSignal
    idempotencyKey?: string | undefined
    inline?: boolean | undefined
    log?: ToolCall['log']
    tool?: LoadedTool | undefined
  },
): Promise<ToolOutcome> {
  const tool = options.tool ?? (await loadTool(ctx, input.toolId, input.version ?? 'latest'))
  const computes = onlyComputes(tool)
  if (options.inline && !computes) throw new Error('The tool no longer only computes')
  const timed = (work: Work) => timedScript(toolKey(ctx.tenantId, input), work)
  return runLoaded(ctx, tool, input, { ...options, around: computes && tool.kind === 'script' ? timed : undefined })
}

/**
 * Like `runTool`, for a loaded tool.
 * @param options.around does the work
 * @throws AppError INVALID_INPUT, UNAVAILABLE
 */
export async function runLoaded(
  ctx: ServiceContext,
  tool: LoadedTool,
  input: { args: JsonObject; dataContext: JsonObject },
  options: {
    signal: AbortSignal
    idempotencyKey?: string | undefined
    log?: ToolCall['log']
    around?: ((work: Work) => Promise<ToolOutcome>) | undefined
  },
): Promise<ToolOutcome> {
  const run = KINDS[tool.kind]
  if (!run) throw new ImpossibleState('tool-kind', `tool ${tool.id} has the unknown kind ${tool.kind}`)
  const details = argumentProblems(tool, input.args)
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
  const call: ToolCall = {
    args: input.args,
    dataContext: input.dataContext,
    context: ctx.trusted,
    signal: options.signal,
    idempotencyKey: options.idempotencyKey ?? null,
    log: options.log,
  }
  const outcome = await traced(
    () => ({
      name: `tool ${tool.kind}`,
      attributes: { 'millrace.tool.id': tool.id, 'millrace.tool.version': tool.version },
    }),
    async (note) => {
      const work = () => run(tool.config, call, ctx)
      const outcome = await (options.around?.(work) ?? work())
      if (!outcome.success) note({ 'error.type': outcome.error.code })
      return outcome
    },
  )
  if (!outcome.success || !tool.outputSchema) return outcome
  const wrong = mismatches(tool.outputSchema, outcome.data, 'data')
  if (wrong.length === 0) return outcome
  const failure = toolFailure(
    'OUTPUT_INVALID',
    "The result does not match the tool's output schema.",
    detailTexts(wrong),
  )
  const { success: _success, data: _data, ...beside } = outcome
  return { ...failure, ...beside }
}

/** Why the arguments do not match the tool's input schema. */
export function argumentProblems(tool: LoadedTool, args: JsonObject) {
  return tool.inputSchema ? mismatches(tool.inputSchema, args, 'args') : []
}
