import type { Definition, Edge, Step } from './schema'

export function findStep(definition: Definition, stepId: string): Step | undefined {
  return definition.steps.find((step) => step.id === stepId)
}

/** The exit of its step that an edge leaves by. */
export function exitOf(edge: Edge): string {
  if (edge.type === 'error') return 'error'
  if (typeof edge.case === 'string') return `case:${edge.case}`
  if (typeof edge.condition === 'string') return `condition:${edge.condition}`
  return 'next'
}

/** The step an exit leads to; null when the path ends here. */
export function nextStep(definition: Definition, stepId: string, exit: string): string | null {
  return definition.edges.find((edge) => edge.from === stepId && exitOf(edge) === exit)?.to ?? null
}
