import type { RouterOutput } from '@/app/_trpc/types'
import type { AgentConfig } from '@/server/agents/schema'

export type Agent = RouterOutput['agents']['get']
/** What a person edits: all that a version of an agent says. */
export type AgentForm = AgentConfig

export function formOf(agent: Omit<AgentForm, never>): AgentForm {
  const { name, description, instructions, model, tools, outputSchema, supervisor, handoffs } = agent
  return { name, description, instructions, model, tools, outputSchema, supervisor, handoffs }
}
