import type { Definition, Fields, Step } from '@/server/definition/schema'
import { sameForm } from '@/server/definition/step-id'
import { referenceText } from '@/server/definition/template'
import type { Catalog } from '@/server/steps/catalog'
import { asObject, declaredBy, fieldNames, findStep, nameProblem, type START, stepIdProblem } from './definition'
import { anyOf, renameProperty, renameRoot, rewriteReferences, rewriteText } from './references'

/** The renamed definition, and the number of rewritten `${…}`. */
export interface Renamed {
  definition: Definition
  references: number
}

/** Why a step cannot have this id, or null. */
export function renameStepProblem(
  definition: Definition,
  catalog: Catalog,
  stepId: string,
  wanted: string,
): string | null {
  const to = sameForm(wanted)
  if (to === stepId) return null
  const problem = stepIdProblem(to)
  if (problem) return problem
  if (findStep(definition, to)) return `Another step has the id ${to}.`
  if (fieldNames(definition, catalog).has(to)) return `\${${referenceText([to])}} already means the field ${to}.`
  return null
}

/**
 * Renames a step and everything that refers to it. References stay if a field of the old name hides the step: they mean
 * the field.
 */
export function renameStep(definition: Definition, catalog: Catalog, stepId: string, wanted: string): Renamed {
  const to = sameForm(wanted)
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
      ...(definition.onFailure === undefined ? {} : { onFailure: id(definition.onFailure) }),
    },
  }
}

/** Where a field is declared: in START, or in a field map (`key`) of a step. */
export type FieldLocation = { stepId: typeof START } | { stepId: string; key: string }

export function fieldsAt(definition: Definition, location: FieldLocation): Fields {
  if (!('key' in location)) return definition.payload
  return asObject(findStep(definition, location.stepId)?.[location.key]) as Fields
}

/** Why a field cannot have this name, or null. */
export function renameFieldProblem(
  definition: Definition,
  location: FieldLocation,
  field: string,
  to: string,
): string | null {
  if (to === field) return null
  const problem = nameProblem(to)
  if (problem) return problem
  if (Object.hasOwn(fieldsAt(definition, location), to)) return `Another field is named ${to}.`
  if (definition.steps.some((step) => step.id === to)) return `A step has the id ${to}.`
  return null
}

/**
 * Renames a declared field and the references to it. `${field}` stays if another source also provides a field of that
 * name; `${step.field}` always means this one.
 */
export function renameField(
  definition: Definition,
  catalog: Catalog,
  location: FieldLocation,
  field: string,
  to: string,
): Renamed {
  const fields = fieldsAt(definition, location)
  if (to === field || !Object.hasOwn(fields, field) || renameFieldProblem(definition, location, field, to) !== null)
    return { definition, references: 0 }
  const renamed = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name === field ? to : name, value]))
  if (!('key' in location)) {
    const others = definition.steps.some((step) => declaredBy(step, catalog).includes(field))
    const { steps, count } = others
      ? { steps: definition.steps, count: 0 }
      : rewriteReferences(definition.steps, renameRoot(field, to))
    // The business key can only mean a START field.
    const key = rewriteText(definition.businessKey ?? '', renameRoot(field, to))
    return {
      definition: {
        ...definition,
        payload: renamed,
        steps,
        ...(definition.businessKey === undefined ? {} : { businessKey: key.text }),
      },
      references: count + key.count,
    }
  }
  const { stepId, key } = location
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
