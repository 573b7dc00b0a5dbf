import type { Definition, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { asObject, entryOf, fieldNames, freeId, nameProblem } from './definition'
import { updateStep } from './edit-steps'
import type { Fix } from './fix'
import { NEITHER_OR_BOTH } from './problem-words'

/** Fixes for a configuration that the step's type rejects. */
export function configFix(definition: Definition, catalog: Catalog, step: Step, problem: Problem): Fix | null {
  const { message, field } = problem
  const set = (label: string, change: Parameters<typeof updateStep>[2]): Fix => ({
    label,
    apply: (before) => updateStep(before, step.id, change),
  })
  // If both are set, the user decides which one counts.
  if (message === NEITHER_OR_BOTH && step.for === undefined && step.until === undefined)
    return set('Wait for a minute', { for: 'PT1M' })
  const [, action] = /^names the action (.+), which the step does not have$/.exec(message) ?? []
  if (field === 'needs' && action !== undefined) {
    const { [action]: _gone, ...rest } = asObject(step.needs)
    return set(`Remove the votes for ${action}`, { needs: Object.keys(rest).length === 0 ? undefined : rest })
  }
  if (field === 'assignees' && /^names .+ twice$/.test(message) && Array.isArray(step.assignees)) {
    const seen = new Set<string>()
    const once = step.assignees.filter((one) => {
      const name = String(one).toLowerCase()
      return seen.size !== seen.add(name).size
    })
    return set('Name each once', { assignees: once })
  }
  if (field === 'assignees' && message === 'needs at least one person, group or role')
    return set('Let everybody answer', { assignees: undefined })
  if (field === 'output' && message === 'must declare at least one field') {
    const [first] = Object.entries(asObject(entryOf(catalog, step.type)?.sample.output))
    if (!first) return null
    const name = freeId(first[0], takenNames(definition, catalog))
    return set(`Add the field ${name}`, { output: { [name]: first[1] } })
  }
  if (field === 'saveAs' && typeof step.saveAs === 'string') {
    if (step.saveAs.trim() === '') return set('Remove “Save as”', { saveAs: undefined })
    const name = legalName(definition, catalog, step, step.saveAs)
    return set(`Save as ${name}`, { saveAs: name })
  }
  return null
}

/** The nearest valid name for an invalid one. */
function legalName(definition: Definition, catalog: Catalog, step: Step, wanted: string): string {
  // Accents are dropped, not their letters.
  const plain = wanted.trim().normalize('NFKD').replace(/\p{M}/gu, '')
  const isUsable = /[A-Za-z]/.test(plain) && !nameProblem(plain)?.includes('reserved')
  return freeId(isUsable ? plain : `${step.id}_result`, takenNames(definition, catalog))
}

/** The names in use in a draft: steps and fields. */
export function takenNames(definition: Definition, catalog: Catalog): Set<string> {
  return new Set([...definition.steps.map(({ id }) => id), ...fieldNames(definition, catalog)])
}
