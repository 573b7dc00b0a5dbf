import type { RouterOutput } from '@/app/_trpc/types'
import type { AgentConfig } from '@/server/agents/schema'

export type Agent = RouterOutput['agents']['open']
/** The editable content of an agent's version. */
export type AgentForm = AgentConfig
/** An agent as the playground uses it: saved or on screen. */
export type ShownAgent = Omit<Agent, keyof AgentForm> & AgentForm

/** The label of `dataContext`. */
export const DATA_FOR_AGENT = 'Data for the agent'

export function formOf(agent: Omit<AgentForm, never>): AgentForm {
  const { name, description, instructions, model, tools, outputSchema, supervisor, handoffs } = agent
  const { fallbacks = [], fallbackOn, limits = {} } = agent
  return {
    ...{ name, description, instructions, model, fallbacks, ...(fallbackOn ? { fallbackOn } : {}), limits },
    ...{ tools, outputSchema, supervisor, handoffs },
  }
}
