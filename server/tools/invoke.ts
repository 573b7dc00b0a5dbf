import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject } from '../definition/json'
import { AppError, CallerGone } from '../errors'
import { parseWhole } from '../parse'
import { wantedVersion } from '../versioned/versions'
import { loadTool } from './find'
import { runTool } from './run'
import { InvokeTool, type ToolOutcome } from './schema'

/**
 * Runs a tool without an agent. A failure in the tool itself answers `success: false`.
 * @throws AppError INVALID_INPUT, TOOL_NOT_FOUND, TOOL_INVOCATION_FAILED, UNAVAILABLE when no slot came free
 */
export async function invokeTool(ctx: ServiceContext, input: { toolId: string; body: unknown }, signal: AbortSignal) {
  authorize(ctx, 'tool:invoke')
  const version = wantedVersion(isJsonObject(input.body) ? input.body.version : undefined)
  return reported(async () => {
    // A missing tool takes precedence over other errors.
    const tool = await loadTool(ctx, input.toolId, version)
    const { args, dataContext } = parseWhole(InvokeTool, input.body)
    const called = { toolId: input.toolId, version, args, dataContext }
    return runTool(ctx, called, { signal, tool, idempotencyKey: ctx.keyed?.outgoingKey })
  }, signal)
}

/**
 * Runs a tool and presents the outcome to the caller.
 * @param caller fires when they disconnect
 * @throws AppError what `run` throws, TOOL_INVOCATION_FAILED, CallerGone
 */
export async function reported(run: () => Promise<ToolOutcome>, caller?: AbortSignal) {
  const started = performance.now()
  try {
    const outcome = await run()
    const logs = outcome.logs ? { logs: outcome.logs } : {}
    const executionTime = Math.max(0, Math.round(performance.now() - started - (outcome.waitedMs ?? 0)))
    const debug = { executionTime, ...logs }
    // List the fields, because callers must not see whether a failure is transient.
    if (outcome.success) return { success: true, data: outcome.data, debug }
    return { success: false, error: outcome.error, debug }
  } catch (err) {
    if (err instanceof AppError) throw err
    if (caller?.aborted) throw new CallerGone()
    throw new AppError('TOOL_INVOCATION_FAILED', { cause: err })
  }
}
