import { AllowedHosts } from '@/lib/ip'
import type { ServiceContext } from '../../context'
import { isJsonObject, type JsonValue } from '../../definition/json'
import type { ToolCall } from '../call'
import { runScript } from '../sandbox/run-script'
import { type ToolOutcome, toolFailure } from '../schema'
import { ScriptConfig } from './script-config'
import { scriptFetch } from './script-fetch'

/**
 * JavaScript in the sandbox: `args`, `dataContext`, `context` and `idempotencyKey` go in, one JSON value comes out.
 * @throws Busy if no worker came free and the script never ran
 */
export async function runScriptTool(config: unknown, call: ToolCall, ctx: ServiceContext): Promise<ToolOutcome> {
  const { code, timeoutMs, allowedHosts = [] } = ScriptConfig.parse(config)
  const outcome = await runScript({
    tenantId: ctx.tenantId,
    code,
    args: call.args,
    dataContext: call.dataContext,
    context: call.context,
    idempotencyKey: call.idempotencyKey,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(allowedHosts.length === 0
      ? {}
      : { fetch: scriptFetch(AllowedHosts.of(allowedHosts), { idempotencyKey: call.idempotencyKey }) }),
    signal: call.signal,
    log: call.log,
  })
  const { waitedMs } = outcome
  const beside = outcome.logs.length === 0 ? { waitedMs } : { waitedMs, logs: outcome.logs }
  if (outcome.ok) return { success: true, data: outcome.value, ...beside }
  const { message, details, transient = false } = outcome
  return { ...toolFailure(outcome.code, message, details, { transient }), ...beside }
}

/** Whether a script has no hosts to call, so repeating it has no side effects. */
export function scriptOnlyComputes(config: JsonValue): boolean {
  const hosts = isJsonObject(config) ? config.allowedHosts : undefined
  return !Array.isArray(hosts) || hosts.length === 0
}
