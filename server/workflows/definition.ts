import { isDeepStrictEqual } from 'node:util'
import { fieldOrder } from '../definition/diff'
import { unstorable } from '../definition/json'
import type { Definition } from '../definition/schema'
import { optionalSettings } from '../definition/settings'
import { findReferences } from '../definition/template'
import { AppError } from '../errors'
import { sameJson } from '../versioned/same-json'
import type { CreateWorkflow, UpdateWorkflow } from './schema'

/**
 * Parses the body of a create.
 * @throws AppError INVALID_INPUT
 */
export function newDefinition(parsed: CreateWorkflow): Definition {
  const steps = parsed.steps
  return storable({
    name: parsed.name,
    description: parsed.description,
    initialStep: parsed.initialStep ?? steps[0]?.id ?? null,
    steps,
    edges: parsed.edges,
    payload: parsed.payload,
    ...optionalSettings(parsed),
  })
}

/**
 * The current definition with each field of the body replaced as a whole. `initialStep: null` means the first step, as
 * at create; `onCancel: null` removes the cleanup path, and so on.
 * @throws AppError INVALID_INPUT
 */
export function mergeDefinition(current: Definition, parsed: UpdateWorkflow): Definition {
  const { initialStep = current.initialStep, onCancel = current.onCancel } = parsed
  const { onFailure = current.onFailure } = parsed
  const { businessKey = current.businessKey, limits = current.limits } = parsed
  const steps = parsed.steps ?? current.steps
  return storable({
    name: parsed.name ?? current.name,
    description: parsed.description ?? current.description,
    initialStep: initialStep ?? steps[0]?.id ?? null,
    steps,
    edges: parsed.edges ?? current.edges,
    payload: parsed.payload ?? current.payload,
    ...optionalSettings({ onCancel, onFailure, businessKey, limits }),
  })
}

/** Whether two definitions are equal. The order of keys matters only for fields, which forms show in that order. */
export function sameDefinition(a: Definition, b: Definition): boolean {
  return sameJson(a, b) && isDeepStrictEqual(fieldOrder(a), fieldOrder(b))
}

/** Rejects, even in drafts, names that reach into JavaScript's own objects and text Postgres cannot store. */
function storable(definition: Definition): Definition {
  const problem = unstorable(definition)
  if (problem) throw new AppError('INVALID_INPUT', { details: [problem] })
  const { steps, businessKey } = definition
  // In code, `${…}` is JavaScript.
  const templates = steps.map(({ code: _code, ...step }) => step)
  const problems = [
    ...findReferences(templates, 'steps').problems,
    ...findReferences(businessKey ?? '', 'businessKey').problems,
  ]
  const details = problems
    .filter(({ error }) => error.forbidden)
    .map(({ path, error }) => ({ path, message: error.message }))
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
  return definition
}
