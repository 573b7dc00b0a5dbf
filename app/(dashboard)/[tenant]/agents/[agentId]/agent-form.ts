import type { RouterOutput } from '@/app/_trpc/types'
import type { AgentConfig } from '@/server/agents/schema'

export type Agent = RouterOutput['agents']['get']
/** The editable content of an agent's version. */
export type AgentForm = AgentConfig

export function formOf(agent: Omit<AgentForm, never>): AgentForm {
  const { name, description, instructions, model, tools, outputSchema, supervisor, handoffs } = agent
  return { name, description, instructions, model, tools, outputSchema, supervisor, handoffs }
}
