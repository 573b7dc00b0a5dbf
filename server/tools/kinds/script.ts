import type { JsonObject } from '../../json'
import type { ToolCall } from '../run'
import { runScript } from '../sandbox/run-script'
import { ScriptConfig, type ToolOutcome } from '../schema'

/** JavaScript in the sandbox: `args`, `dataContext` and `context` in, one JSON value out. */
export async function runScriptTool(config: unknown, call: ToolCall): Promise<ToolOutcome> {
  const { code, timeoutMs } = ScriptConfig.parse(config)
  const outcome = await runScript({
    code,
    args: call.args,
    dataContext: call.dataContext,
    context: call.context as JsonObject | null,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    signal: call.signal,
  })
  if (outcome.ok) return { success: true, data: outcome.value }
  return { success: false, error: { message: outcome.message, details: outcome.details, code: outcome.code } }
}
