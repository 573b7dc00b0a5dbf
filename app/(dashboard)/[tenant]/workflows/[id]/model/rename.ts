import type { JsonObject, JsonValue } from '@/server/definition/json'
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

/**
 * Where a field is declared: in START, in a field map (`key`) of a step, or in the fields of an action of the list
 * `key`.
 */
export type FieldLocation = { stepId: typeof START } | { stepId: string; key: string; action?: string | undefined }

export function fieldsAt(definition: Definition, location: FieldLocation): Fields {
  if (!('key' in location)) return definition.payload
  const value = findStep(definition, location.stepId)?.[location.key]
  if (location.action === undefined) return asObject(value) as Fields
  return asObject(actionsOf(value).find(({ id }) => id === location.action)?.fields) as Fields
}

function actionsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject) : []
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
  const renamed = renamedKeys(fields as unknown as JsonObject, field, to) as unknown as Fields
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
  const { stepId, key, action } = location
  const owner = findStep(definition, stepId)
  if (owner && action !== undefined) return renameInAction(definition, catalog, owner, { key, action, field, to })
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

/** References to a field of a decision stay if another of its actions still has a field of that name. */
function renameInAction(
  definition: Definition,
  catalog: Catalog,
  owner: Step,
  at: { key: string; action: string; field: string; to: string },
): Renamed {
  const { key, action, field, to } = at
  const actions = actionsOf(owner[key])
  const stays = actions.some(({ id, fields }) => id !== action && Object.hasOwn(asObject(fields), field))
  const others = fieldNames(definition, catalog, { stepId: owner.id })
  const names = [owner.id, ...(typeof owner.saveAs === 'string' ? [owner.saveAs] : [])].filter(
    (name) => !others.has(name),
  )
  const { steps, count } = stays
    ? { steps: definition.steps, count: 0 }
    : rewriteReferences(definition.steps, anyOf(...names.map((name) => renameProperty(name, field, to))))
  const declared = steps.map((step) => {
    if (step.id !== owner.id) return step
    // Its own texts may have been rewritten.
    const changed = actionsOf(step[key]).map((one) =>
      one.id === action ? { ...one, fields: renamedKeys(asObject(one.fields), field, to) } : one,
    )
    return { ...step, [key]: changed } as Step
  })
  return { definition: { ...definition, steps: declared }, references: count }
}

function renamedKeys(fields: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name === from ? to : name, value]))
}
