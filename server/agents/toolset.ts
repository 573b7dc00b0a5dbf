import type { ServiceContext } from '../context'
import type { Approval } from '../definition/approval'
import { type JsonObject, own } from '../definition/json'
import { AppError } from '../errors'
import type { ModelTool } from '../models/call'
import { HAND_OFF, idAsName, meansTool, toolName } from '../models/tool-names'
import { acceptableSchema, type NamedSchema } from '../tools/acceptable-schema'
import { loadTool } from '../tools/find'
import { onlyComputes } from '../tools/run'
import { askingWhy } from './approval-reason'
import { type LoadedAgent, loadAgent } from './find'

const OPEN_OBJECT: JsonObject = { type: 'object', properties: {}, additionalProperties: true }

/**
 * A callable of a model: one of its agent's tools, or another agent. The tenant is never an argument. `id` is the
 * tool's, or `handoff_` and the agent's; the model knows it by its `name`.
 */
export type AgentTool = ModelTool & {
  id: string
  /** Which of its calls need a decision; none if absent. */
  approval?: Approval | undefined
} & (
    | {
        kind: 'tool'
        toolId: string
        version: string | number
        title: string
        names: NamedSchema['names']
        /** As its author wrote it. */
        inputSchema: JsonObject | null
        /** Its calls reach nothing outside. */
        computes: boolean
      }
    | { kind: 'handoff'; agent: LoadedAgent }
  )

/**
 * The current toolset of an agent: exactly the tools and agents attached to its version. Omits those removed since it
 * was saved, and lists them in `warnings`.
 * @param options.versions those of its tools when the turn began, which then are the only ones
 * @returns the tools by id
 */
export async function openToolset(
  ctx: ServiceContext,
  { config }: LoadedAgent,
  options: { mayHandOff: boolean; versions?: Record<string, string | number> | null },
): Promise<{ tools: Map<string, AgentTool>; warnings: string[] }> {
  const tools = new Map<string, AgentTool>()
  const warnings: string[] = []
  const add = async (missing: string, load: Promise<AgentTool>, approval: Approval | undefined) => {
    try {
      const loaded = await load
      // An earlier version may have it twice: then each of its calls needs a decision if one entry says so.
      const asks = approval ?? tools.get(loaded.id)?.approval
      const tool = { ...loaded, approval: asks, parameters: askingWhy(loaded.parameters, asks) }
      // Ids that people chose may have the same tail.
      const taken = [...tools.values()].some(({ id, name }) => name === tool.name && id !== tool.id)
      tools.set(tool.id, taken ? { ...tool, name: idAsName(tool.id) } : tool)
    } catch (err) {
      if (!(err instanceof AppError && err.status === 404)) throw err
      warnings.push(missing)
    }
  }
  for (const { toolId, version, approval } of config.tools) {
    const missing = `Tool not found: ${toolId} version ${version}`
    const kept = options.versions ? own(options.versions, toolId) : version
    if (kept === undefined) warnings.push(missing)
    else await add(missing, loadUse(ctx, toolId, kept), approval)
  }
  if (config.supervisor && options.mayHandOff) {
    for (const { agentId, version, approval } of config.handoffs) {
      await add(`Agent not found: ${agentId} version ${version}`, loadHandOff(ctx, agentId, version), approval)
    }
  }
  return { tools, warnings }
}

/** The versions of the tools in a toolset, by id. */
export function versionsOf(tools: ReadonlyMap<string, AgentTool>): Record<string, string | number> {
  const versions = [...tools.values()].flatMap((tool) =>
    tool.kind === 'tool' ? [[tool.toolId, tool.version] as const] : [],
  )
  return Object.fromEntries(versions)
}

/** The id of the tool that a model called by this name; the name itself if it means none. */
export function calledId(tools: ReadonlyMap<string, AgentTool>, called: string): string {
  if (tools.has(called)) return called
  const all = [...tools.values()]
  const meant = all.find(({ name }) => name === called) ?? all.find(({ name }) => meansTool(called, name))
  return meant?.id ?? called
}

/** The name by which the model knows a tool, also one that the agent no longer has. */
export function nameOf(tools: ReadonlyMap<string, AgentTool>, id: string): string {
  return tools.get(id)?.name ?? idAsName(id)
}

async function loadUse(ctx: ServiceContext, toolId: string, version: string | number): Promise<AgentTool> {
  const tool = await loadTool(ctx, toolId, version)
  const { name, description, inputSchema } = tool
  const takesObject = inputSchema && (inputSchema.type === undefined || inputSchema.type === 'object')
  // Calls still check the dropped rules.
  const { schema, names } = acceptableSchema(takesObject ? inputSchema : OPEN_OBJECT)
  return {
    kind: 'tool',
    id: toolId,
    toolId,
    title: name,
    // Call the same version whose schema was read here.
    version: tool.version,
    name: toolName('tool', toolId, name),
    description: description === '' ? name : `${name}: ${description}`,
    parameters: schema,
    names,
    inputSchema,
    computes: onlyComputes(tool),
  }
}

async function loadHandOff(ctx: ServiceContext, agentId: string, version: string | number): Promise<AgentTool> {
  const agent = await loadAgent(ctx, agentId, version)
  const { name, config } = agent
  const id = `${HAND_OFF}${agentId}`
  return {
    kind: 'handoff',
    id,
    agent,
    name: `${HAND_OFF}${toolName('agent', agentId, name)}`,
    description: `Hands a message to the agent ${name} and returns its answer. ${config.description}`.trim(),
    parameters: {
      type: 'object',
      properties: {
        message: { type: 'string', description: 'What the agent should do, with everything it needs to know.' },
      },
      required: ['message'],
      additionalProperties: false,
    },
  }
}
