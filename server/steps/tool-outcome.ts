import { StepFailure, TransientError } from '../errors'
import type { ToolOutcome } from '../tools/schema'
import type { StepOutput } from './define-step'

/**
 * The output of a step that ran a tool.
 * @throws StepFailure, TransientError
 */
export function outputOf(outcome: ToolOutcome): StepOutput {
  if (outcome.success) return { output: outcome.data }
  const { code, message, details } = outcome.error
  if (outcome.transient) throw new TransientError(message, outcome.retryAfterMs, { code })
  throw new StepFailure(code, message, details)
}
