import type { AgentConfig } from '../agents/schema'
import type { Definition } from '../definition/schema'
import { findStepType } from '../steps/registry'

/** An object that a definition uses. */
export interface Used {
  kind: 'tool' | 'agent' | 'workflow'
  id: string
}

/** Only a run knows the target of a template. */
export function usedByWorkflow({ steps }: Definition): Used[] {
  return steps.flatMap((step) => {
    const type = findStepType(step.type)
    const config = type?.config.safeParse(step)
    const uses = config?.success ? (type?.uses?.(config.data) ?? []) : []
    return uses.filter(({ id }) => !id.includes('${')).map(({ kind, id }) => ({ kind, id }))
  })
}

export function usedByAgent({ tools, handoffs }: AgentConfig): Used[] {
  return [
    ...tools.map(({ toolId }): Used => ({ kind: 'tool', id: toolId })),
    ...handoffs.map(({ agentId }): Used => ({ kind: 'agent', id: agentId })),
  ]
}

/**
 * Groups, each after the ones it uses. Objects that use each other, directly or not, form one group. (Tarjan's strongly
 * connected components, which come out in this order.)
 */
export function inOrderOfUse<T>(items: readonly T[], usesOf: (item: T) => readonly T[]): T[][] {
  const index = new Map<T, number>()
  const stack: T[] = []
  const waiting = new Set<T>()
  const groups: T[][] = []
  const visit = (item: T): number => {
    const at = index.size
    index.set(item, at)
    stack.push(item)
    waiting.add(item)
    let lowest = at
    for (const used of usesOf(item)) {
      if (!index.has(used)) lowest = Math.min(lowest, visit(used))
      else if (waiting.has(used)) lowest = Math.min(lowest, index.get(used) ?? at)
    }
    if (lowest === at) {
      const group = stack.splice(stack.indexOf(item))
      for (const member of group) waiting.delete(member)
      groups.push(group)
    }
    return lowest
  }
  for (const item of items) if (!index.has(item)) visit(item)
  return groups
}
