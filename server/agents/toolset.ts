import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { AppError } from '../errors'
import type { ModelTool } from '../models/call'
import { loadTool } from '../tools/find'
import { type LoadedAgent, loadAgent } from './find'

const OPEN_OBJECT: JsonObject = { type: 'object', properties: {}, additionalProperties: true }
/** What every provider takes as the name of a tool. */
const MAX_TOOL_NAME = 64

/** Something a model may ask for: a tool of its agent's, or another agent. The tenant is never among its arguments. */
export type AgentTool = ModelTool &
  ({ kind: 'tool'; toolId: string; version: string | number } | { kind: 'handoff'; agent: LoadedAgent })

/**
 * What an agent may use just now: the tools and agents attached to its version, and no others. What has gone since it
 * was saved is left out and named in `warnings`.
 */
export async function openToolset(
  ctx: ServiceContext,
  { config }: LoadedAgent,
  options: { mayHandOff: boolean },
): Promise<{ tools: Map<string, AgentTool>; warnings: string[] }> {
  const tools = new Map<string, AgentTool>()
  const warnings: string[] = []
  const add = async (missing: string, load: Promise<AgentTool>) => {
    try {
      const tool = await load
      tools.set(tool.name, tool)
    } catch (err) {
      if (!(err instanceof AppError && err.status === 404)) throw err
      warnings.push(missing)
    }
  }
  for (const { toolId, version } of config.tools) {
    await add(`Tool not found: ${toolId} version ${version}`, loadUse(ctx, toolId, version))
  }
  if (config.supervisor && options.mayHandOff) {
    for (const { agentId, version } of config.handoffs) {
      await add(`Agent not found: ${agentId} version ${version}`, loadHandOff(ctx, agentId, version))
    }
  }
  return { tools, warnings }
}

async function loadUse(ctx: ServiceContext, toolId: string, version: string | number): Promise<AgentTool> {
  const tool = await loadTool(ctx, toolId, version)
  const { name, description, inputSchema } = tool
  return {
    kind: 'tool',
    toolId,
    // The version that was looked at is the one that is called.
    version: tool.version,
    name: toolId.slice(0, MAX_TOOL_NAME),
    description: description === '' ? name : `${name}: ${description}`,
    // Providers take only schemas of objects here; any other is still checked when the tool is called.
    parameters: inputSchema?.type === 'object' ? inputSchema : OPEN_OBJECT,
  }
}

async function loadHandOff(ctx: ServiceContext, agentId: string, version: string | number): Promise<AgentTool> {
  const agent = await loadAgent(ctx, agentId, version)
  const { name, config } = agent
  return {
    kind: 'handoff',
    agent,
    name: `handoff_${agentId}`.slice(0, MAX_TOOL_NAME),
    description: `Hands a message to the agent ${name} and gives back its answer. ${config.description}`.trim(),
    parameters: {
      type: 'object',
      properties: { message: { type: 'string', description: 'What the agent is to do, with all it needs to know.' } },
      required: ['message'],
      additionalProperties: false,
    },
  }
}
