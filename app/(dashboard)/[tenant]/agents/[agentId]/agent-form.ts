import type { RouterOutput } from '@/app/_trpc/types'
import type { AgentConfig } from '@/server/agents/schema'

export type Agent = RouterOutput['agents']['open']
/** The editable content of an agent's version. */
export type AgentForm = AgentConfig
/** An agent as it is talked to: as saved, or as it is on the screen. */
export type ShownAgent = Omit<Agent, keyof AgentForm> & AgentForm

export function formOf(agent: Omit<AgentForm, never>): AgentForm {
  const { name, description, instructions, model, tools, outputSchema, supervisor, handoffs } = agent
  return { name, description, instructions, model, tools, outputSchema, supervisor, handoffs }
}
