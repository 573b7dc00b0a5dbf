import { listAgentCases } from '../agents/test-cases'
import type { ServiceContext } from '../context'
import { listToolCases } from '../tools/test-cases'
import type { One } from '../versioned/noun'
import { listWorkflowCases } from '../workflows/test-cases'
import { withAuthors } from './actors'

/**
 * The tool's test cases with the names of their authors.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export async function toolCases(ctx: ServiceContext, input: One) {
  return withAuthors(ctx, await listToolCases(ctx, input))
}

/**
 * The agent's test cases, likewise.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function agentCases(ctx: ServiceContext, input: One) {
  return withAuthors(ctx, await listAgentCases(ctx, input))
}

/**
 * The workflow's test cases, likewise. Omits their input: it is a whole run.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function workflowCases(ctx: ServiceContext, input: One) {
  const cases = await listWorkflowCases(ctx, input)
  return withAuthors(
    ctx,
    cases.map(({ given: _run, ...kept }) => kept),
  )
}
