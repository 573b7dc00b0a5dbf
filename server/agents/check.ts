import type { ServiceContext, TransactionContext } from '../context'
import { AppError, type ErrorDetail } from '../errors'
import { loadTool } from '../tools/find'
import type { Candidate } from '../versioned/publish'
import { loadAgent } from './find'
import type { AgentVersionRow } from './present'
import type { AgentConfig } from './schema'

/**
 * Checks that the tools and agents it refers to exist.
 * @throws AppError VALIDATION_FAILED
 */
export async function checkAgent(
  tx: TransactionContext,
  { id, content, live }: Pick<Candidate<AgentVersionRow, AgentConfig>, 'id' | 'content' | 'live'>,
): Promise<{ report: object }> {
  // A published version stays published, even if a tool it calls is gone by now.
  const details = live ? [] : await problems(tx, id, content)
  if (details.length === 0) return { report: {} }
  throw new AppError('VALIDATION_FAILED', { message: 'Invalid input: the agent has problems', details })
}

/** The tools and agents it refers to that do not exist. */
async function problems(ctx: ServiceContext, id: string, config: AgentConfig): Promise<ErrorDetail[]> {
  const found: ErrorDetail[] = []
  const check = async (path: string, what: string, look: Promise<unknown>) => {
    try {
      await look
    } catch (err) {
      if (!(err instanceof AppError && err.status === 404)) throw err
      found.push({ path, code: what.startsWith('Tool') ? 'TOOL_NOT_FOUND' : 'AGENT_NOT_FOUND', message: what })
    }
  }
  for (const [index, { toolId, version }] of config.tools.entries())
    await check(`tools[${index}]`, `Tool not found: ${toolId} version ${version}.`, loadTool(ctx, toolId, version))
  for (const [index, { agentId, version }] of config.handoffs.entries()) {
    const path = `handoffs[${index}]`
    if (agentId === id) found.push({ path, code: 'AGENT_NOT_FOUND', message: 'An agent cannot hand over to itself.' })
    else await check(path, `Agent not found: ${agentId} version ${version}.`, loadAgent(ctx, agentId, version))
  }
  return found
}
