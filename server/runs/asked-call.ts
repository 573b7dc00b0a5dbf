import type { ServiceContext } from '../context'
import { APPROVE } from '../definition/approval'
import type { PauseAnswer, PauseSignal } from '../definition/run'
import { AppError } from '../errors'
import { loadTool } from '../tools/find'
import { mismatches } from '../tools/json-schema'

/** Whether an answer goes to an agent, and not into the run's data. */
export function isToAgent(signal: PauseSignal): boolean {
  return signal.type === 'request_user_action' && (signal.call !== undefined || signal.limit !== undefined)
}

/**
 * Checks the arguments that a person changed of an agent's call, against the version that is called. Without the tool,
 * the call fails, and the model learns why.
 * @throws AppError INVALID_INPUT; the pause stays open
 */
export async function requireArguments(ctx: ServiceContext, signal: PauseSignal, answer: PauseAnswer): Promise<void> {
  const call = signal.type === 'request_user_action' ? signal.call : undefined
  if (call?.version === undefined || !('actionId' in answer) || answer.actionId !== APPROVE || !answer.data) return
  const tool = await loadTool(ctx, call.toolId, call.version).catch((err: unknown) => {
    if (err instanceof AppError && err.status === 404) return null
    throw err
  })
  const details = tool?.inputSchema ? mismatches(tool.inputSchema, { ...call.args, ...answer.data }, 'data') : []
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
}
