import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject } from '../definition/json'
import type { Ended, ToolCase } from '../definition/test-case'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import type { One } from '../versioned/noun'
import { type CaseResult, RunCases, runCases } from '../versioned/run-cases'
import { reported } from './invoke'
import { loadDraftTool } from './load-draft'
import type { LoadedTool } from './loaded'
import { TOOL } from './noun'
import { runLoaded } from './run'
import { messageWithDetails } from './schema'

const AT_ONCE = 4
/** For all cases together. */
const LIMIT_MS = 60_000

/**
 * Runs test cases of a tool as it is being edited, saved or not. The calls are real.
 * @param input.body `draft` has the body of an update, `only` the ids of the cases to run
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function runToolCases(
  ctx: ServiceContext,
  { id, body }: One & { body: unknown },
  signal: AbortSignal,
): Promise<{ results: CaseResult[] }> {
  authorize(ctx, 'tool:invoke')
  const given = isJsonObject(body) ? body : {}
  const { only } = parseInput(RunCases, given)
  const tool = await loadDraftTool(ctx, id, given.draft)
  const run = async (call: ToolCase, until: AbortSignal) => ({ ended: await endOf(ctx, tool, call, until) })
  return runCases(ctx, TOOL, id, { only, atOnce: AT_ONCE, limitMs: LIMIT_MS, run }, signal)
}

async function endOf(ctx: ServiceContext, tool: LoadedTool, call: ToolCase, signal: AbortSignal): Promise<Ended> {
  try {
    const answer = await reported(() => runLoaded(ctx, tool, call, { signal }))
    if (!('error' in answer)) return { data: answer.data }
    const { code, message, details } = answer.error
    return { failed: { code, message: [message, ...details].join(' ') } }
  } catch (err) {
    // The case was rejected as a caller would be, for example for invalid arguments.
    if (!(err instanceof AppError) || err.code === 'UNAVAILABLE') throw err
    return { failed: { code: err.code, message: messageWithDetails(err) } }
  }
}
