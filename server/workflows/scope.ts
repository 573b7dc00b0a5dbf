import { findReferences } from '../interpreter/template'
import { templatedConfig } from '../steps/config'
import type { CommonConfig } from '../steps/define-step'
import { findStepType } from '../steps/registry'
import type { Problem } from './graph'
import { cleanupSteps } from './paths'
import type { Definition, Step } from './schema'

/**
 * References that no path can give a value: found at publish rather than in the middle of a run.
 * Where an earlier step may put fields of any name, nothing is claimed.
 */
export function checkReferences(definition: Definition): Problem[] {
  const problems: Problem[] = []
  const cleanup = cleanupSteps(definition)
  for (const step of definition.steps) {
    const { references, problems: syntax } = findReferences(templatedConfig(step))
    for (const { path, error } of syntax) {
      problems.push({
        severity: 'error',
        code: 'INVALID_EXPRESSION',
        message: error.message,
        stepId: step.id,
        field: path,
      })
    }
    // A cancel may come after any step, so nothing is known about what a cleanup path finds.
    if (references.length === 0 || cleanup.has(step.id)) continue
    const scope = scopeOf(definition, step.id)
    for (const { path, reference } of references) {
      if (reference.root === '_' || reference.fallback || scope.open || scope.names.has(reference.root)) continue
      const message = `\${${reference.source}} can never have a value here: no START field and no earlier step is named ${reference.root}.`
      problems.push({ severity: 'error', code: 'EXPRESSION_UNRESOLVED', message, stepId: step.id, field: path })
    }
  }
  return problems
}

/** Every name that may have a value when the step begins. `fileId` is there after a multipart start. */
export function scopeOf(definition: Definition, stepId: string): { names: Set<string>; open: boolean } {
  const names = new Set([...Object.keys(definition.payload), 'fileId'])
  let open = false
  for (const step of ancestors(definition, stepId)) {
    names.add(step.id)
    const defined = definedBy(step)
    for (const field of defined.fields) names.add(field)
    open ||= defined.open
  }
  return { names, open }
}

function definedBy(step: Step): { fields: string[]; open: boolean } {
  const type = findStepType(step.type)
  const config = type?.config.safeParse(step)
  if (!type?.defines || !config?.success) return { fields: [], open: false }
  return type.defines({ ...(step as CommonConfig), ...(config.data as object) } as never, step.id)
}

function ancestors(definition: Definition, stepId: string): Step[] {
  const found = new Set<string>()
  const open = [stepId]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const edge of definition.edges) {
      if (edge.to === id && !found.has(edge.from)) {
        found.add(edge.from)
        open.push(edge.from)
      }
    }
  }
  return definition.steps.filter((step) => found.has(step.id))
}
