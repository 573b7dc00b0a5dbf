import type { Definition, Fields, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { asObject, declaredBy, fieldNames, findStep, nameProblem, type START } from './definition'
import { anyOf, renameProperty, renameRoot, rewriteReferences } from './references'

/** What a rename gives: the definition, and how many `${…}` were rewritten. */
export interface Renamed {
  definition: Definition
  references: number
}

/** Why a step cannot have another id; null when it can. */
export function renameStepProblem(definition: Definition, catalog: Catalog, stepId: string, to: string): string | null {
  if (to === stepId) return null
  const problem = nameProblem(to)
  if (problem) return problem
  if (findStep(definition, to)) return `Another step has the id ${to}.`
  if (fieldNames(definition, catalog).has(to)) return `${to} is a field already, and \${${to}} means that field.`
  return null
}

/**
 * Gives a step another id, and everything that names it the new one. References stay where a field of the old name
 * stands in front of the step: they mean the field.
 */
export function renameStep(definition: Definition, catalog: Catalog, stepId: string, to: string): Renamed {
  if (to === stepId || renameStepProblem(definition, catalog, stepId, to) !== null) return { definition, references: 0 }
  const shadowed = fieldNames(definition, catalog).has(stepId)
  const { steps, count } = shadowed
    ? { steps: definition.steps, count: 0 }
    : rewriteReferences(definition.steps, renameRoot(stepId, to))
  const id = (known: string) => (known === stepId ? to : known)
  return {
    references: count,
    definition: {
      ...definition,
      steps: steps.map((step) => (step.id === stepId ? { ...step, id: to } : step)),
      edges: definition.edges.map((edge) =>
        edge.from === stepId || edge.to === stepId ? { ...edge, from: id(edge.from), to: id(edge.to) } : edge,
      ),
      initialStep: definition.initialStep === null ? null : id(definition.initialStep),
      ...(definition.onCancel === undefined ? {} : { onCancel: id(definition.onCancel) }),
    },
  }
}

/** Where a field is declared: in START, or in a map of fields (`key`) of a step's configuration. */
export type FieldPlace = { stepId: typeof START } | { stepId: string; key: string }

export function fieldsAt(definition: Definition, place: FieldPlace): Fields {
  if (!('key' in place)) return definition.payload
  return asObject(findStep(definition, place.stepId)?.[place.key]) as Fields
}

/** Why a field cannot have another name; null when it can. */
export function renameFieldProblem(
  definition: Definition,
  place: FieldPlace,
  field: string,
  to: string,
): string | null {
  if (to === field) return null
  const problem = nameProblem(to)
  if (problem) return problem
  if (Object.hasOwn(fieldsAt(definition, place), to)) return `Another field is named ${to}.`
  if (definition.steps.some((step) => step.id === to)) return `A step has the id ${to}.`
  return null
}

/**
 * Renames a declared field and what names it. `${field}` stays where something else gives a field of that name too;
 * `${step.field}` always means this one.
 */
export function renameField(
  definition: Definition,
  catalog: Catalog,
  place: FieldPlace,
  field: string,
  to: string,
): Renamed {
  const fields = fieldsAt(definition, place)
  if (to === field || !Object.hasOwn(fields, field) || renameFieldProblem(definition, place, field, to) !== null)
    return { definition, references: 0 }
  const renamed = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name === field ? to : name, value]))
  if (!('key' in place)) {
    const others = definition.steps.some((step) => declaredBy(step, catalog).includes(field))
    const { steps, count } = others
      ? { steps: definition.steps, count: 0 }
      : rewriteReferences(definition.steps, renameRoot(field, to))
    return { definition: { ...definition, payload: renamed, steps }, references: count }
  }
  const { stepId, key } = place
  const owner = findStep(definition, stepId)
  const saveAs = typeof owner?.saveAs === 'string' ? owner.saveAs : null
  const others = fieldNames(definition, catalog, { stepId })
  const rewrites = [
    ...(others.has(stepId) ? [] : [renameProperty(stepId, field, to)]),
    ...(saveAs === null || others.has(saveAs) ? [] : [renameProperty(saveAs, field, to)]),
    ...(saveAs !== null || others.has(field) ? [] : [renameRoot(field, to)]),
  ]
  const { steps, count } = rewriteReferences(definition.steps, anyOf(...rewrites))
  const declared = steps.map((step) => (step.id === stepId ? ({ ...step, [key]: renamed } as Step) : step))
  return { definition: { ...definition, steps: declared }, references: count }
}
