import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError, CallerGone } from '../errors'
import { parseInput } from '../parse'
import { listMcpTools } from './kinds/mcp'
import { McpServerConfig } from './kinds/mcp-config'

/**
 * Lists the tools of a remote MCP server, from which tools of kind `mcp` are created. If the server cannot be reached,
 * the result has `success: false`, as in an invoke.
 * @throws AppError INVALID_INPUT, FORBIDDEN below editor: the call may carry the tenant's secrets
 */
export async function listRemoteTools(ctx: ServiceContext, body: unknown, signal: AbortSignal) {
  authorize(ctx, 'tool:write')
  const server = parseInput(McpServerConfig, body)
  try {
    const outcome = await listMcpTools(server, ctx, signal)
    return outcome.success ? outcome : { success: false, error: outcome.error }
  } catch (err) {
    if (err instanceof AppError) throw err
    if (signal.aborted) throw new CallerGone()
    throw new AppError('TOOL_INVOCATION_FAILED', { cause: err })
  }
}
