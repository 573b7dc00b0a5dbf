import { z } from 'zod'
import { authorize } from '../auth/policy'
import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { lastOf, type RunPart, stepsOfPart } from '../definition/part'
import { reachable } from '../definition/paths'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { MultipartInput } from '../http/multipart-input'
import { parseInput } from '../parse'
import { partAsRun } from '../run-store/definition'
import { findStepType } from '../steps/registry'
import { requireRunnable } from '../workflows/check/definition'
import { checkEdits, refuseTooMuchData } from './edits'
import type { StartBody } from './input'

const stepId = z.string().min(1).max(200)
/** Here and not beside the type, so that zod stays out of the browser. */
const Part = z.union([z.strictObject({ to: stepId }), z.strictObject({ only: stepId })])
/** Problems with the values that a step gets. */
const OF_DATA = ['EXPRESSION_UNRESOLVED', 'TYPE_MISMATCH']

/** @throws AppError INVALID_INPUT */
export function readPart(part: unknown): RunPart | null {
  return part === undefined ? null : parseInput(Part, part)
}

/**
 * The part of a version as its run follows it. A caller may bypass checks of other steps, such as an approval.
 * @throws AppError FORBIDDEN, VALIDATION_FAILED, INVALID_INPUT
 */
export async function checkPart(ctx: ServiceContext, part: RunPart, definition: Definition): Promise<Definition> {
  authorize(ctx, 'workflow:write')
  const last = lastOf(part)
  if (!definition.steps.some(({ id }) => id === last)) throw refused(`There is no step ${last}`)
  const within = stepsOfPart(definition, part, ({ type }) => findStepType(type)?.exits)
  const tried = partAsRun(definition, part)
  if ('to' in part && !reaches(tried, last)) throw refused(`No path from START leads to ${last}`)
  // Steps left out may be unfinished. A step alone receives the values it refers to, regardless of the steps before it.
  const given = 'only' in part ? OF_DATA : []
  await requireRunnable(
    beyondReach(ctx),
    definition,
    ({ stepId, code }) => stepId !== undefined && within.has(stepId) && !given.includes(code),
  )
  return tried
}

/**
 * The run data for a step that is tried alone.
 * @throws AppError INVALID_INPUT
 */
export function readDataOfStep(body: StartBody): JsonObject {
  if (body instanceof MultipartInput) throw refused('A step on its own takes no file')
  checkEdits({}, body)
  refuseTooMuchData(body)
  return body
}

function refused(message: string): AppError {
  return new AppError('INVALID_INPUT', { details: [{ path: 'part', message }] })
}

function reaches(definition: Definition, stepId: string): boolean {
  return definition.initialStep !== null && reachable(definition, definition.initialStep).has(stepId)
}
