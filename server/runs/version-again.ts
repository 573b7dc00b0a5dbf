import { isDeepStrictEqual } from 'node:util'
import type { SQL } from 'drizzle-orm'
import { z } from 'zod'
import { authorize, seesHidden } from '../auth/policy'
import { beyondReach } from '../auth/reach'
import type { TransactionContext } from '../context'
import type { JsonObject } from '../definition/json'
import { lastOf } from '../definition/part'
import { reachable } from '../definition/paths'
import type { Definition } from '../definition/schema'
import { noLongerHidden, withoutFields } from '../definition/sensitive'
import { AppError, type ErrorDetail } from '../errors'
import { lookupWith } from '../interpreter/flow/index'
import { partAsRun } from '../run-store/definition'
import { valuesOfRun } from '../vault/run-values'
import { requireRunnable } from '../workflows/check/definition'
import { misfitsOf } from '../workflows/check/fits'
import { bodiesOf } from '../workflows/check/regions'
import { claimsOf } from '../workflows/claims'
import { findVersionToRun } from '../workflows/find-version-to-run'
import type { RunRow } from './present'
import { outputsBefore } from './progress'
import { checkPart } from './start-part'

// Repeating a run on another version of its workflow.

/** In a request. */
export const AgainVersion = z
  .union([z.int().min(1), z.string().max(20)])
  .describe(
    'The version on which to repeat the run: a number, or `published`; of a test run also `latest`. Its own version by default.',
  )

/** In a request. */
export const RepeatCalls = z
  .boolean()
  .describe(
    'On another version: make calls again that the old run completed, and that come after the step there. Otherwise the repeat is refused.',
  )

/** The version on which a run is repeated. */
export interface VersionAgain {
  version: number
  /** As the new run follows it: all of it, or the part that the old run performed. */
  definition: Definition
  whole: Definition
  /** What the old run followed. */
  before: Definition
  /** Whether it is another version than that of the old run. */
  isOther: boolean
  settled: boolean
}

/**
 * The version on which a run is repeated, locked until the end of the transaction. Another version must have been
 * published; of a test run, it may also be a draft.
 * @param wanted its own by default
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT, FORBIDDEN, VALIDATION_FAILED, VERSION_MISFIT
 */
export async function findVersionAgain(
  tx: TransactionContext,
  old: RunRow,
  wanted: z.infer<typeof AgainVersion> | undefined,
): Promise<VersionAgain> {
  const { workflowId, part } = old
  const own = await findVersionToRun(tx, workflowId, String(old.workflowVersion))
  const before = part ? partAsRun(own.definition, part) : own.definition
  const itself = { ...own, whole: own.definition, definition: before, before, isOther: false, settled: false }
  if (wanted === undefined) return itself
  const found = await findVersionToRun(tx, workflowId, String(wanted))
  if (found.version === own.version) return itself
  const { version, wasPublished: settled, definition: whole } = found
  const isTest = old.startedVia === 'test'
  if (!isTest && (!settled || wanted === 'latest')) {
    const message = 'must be a version that was published, unless the run is a test'
    throw new AppError('INVALID_INPUT', { details: [{ path: 'version', message }] })
  }
  if (part && !whole.steps.some(({ id }) => id === lastOf(part))) throw misfit([stepGone(lastOf(part))])
  if (seesHidden(tx)) await refuseShown(tx, old.id, own.definition, whole)
  // As for a start: a draft is only for editors to try out.
  if (!settled) authorize(tx, 'workflow:write')
  if (!settled && !part) await requireRunnable(beyondReach(tx), whole)
  const definition = part ? await checkPart(tx, part, whole) : whole
  return { version, definition, whole, before, isOther: true, settled: settled && !part }
}

/** A member who sees values only one by one must not see them all by repeating the run where they are not hidden. */
async function refuseShown(tx: TransactionContext, runId: string, from: Definition, to: Definition): Promise<void> {
  const names = noLongerHidden(from, to)
  if (names.length === 0) return
  const values = await valuesOfRun(tx, runId)
  const shown = names.filter((name) => !isDeepStrictEqual(withoutFields(values, new Set([name])), values))
  if (shown.length === 0) return
  throw misfit(
    shown.map((name) => ({
      code: 'HIDDEN_FIELD',
      message: `${name} would no longer be hidden: the version does not mark it as sensitive.`,
      name,
    })),
  )
}

/**
 * Refuses to continue a run at a step of another version if that is not on its main path, or if what the run has so far
 * is not what the version takes for granted there.
 * @param from the data with which it continues, and the position up to which its records are kept
 * @throws AppError VERSION_MISFIT
 */
export async function requireFit(
  tx: TransactionContext,
  old: RunRow,
  { definition, version, settled }: VersionAgain,
  stepId: string,
  { data, before }: { data: JsonObject; before: SQL | null },
): Promise<void> {
  if (!isOnMainPath(definition, stepId)) throw misfit([stepGone(stepId)])
  const claims = await claimsOf(tx, { workflowId: old.workflowId, version, settled }, definition, stepId)
  const named = claims.flatMap(({ name, inData }) => (inData || Object.hasOwn(data, name) ? [] : [name]))
  const outputs = before === null ? {} : await outputsBefore(tx, old.id, before, named)
  const misfits = misfitsOf(claims, lookupWith(data, outputs))
  if (misfits.length > 0) throw misfit(misfits.map((found) => ({ ...found })))
}

function isOnMainPath(definition: Definition, stepId: string): boolean {
  const { initialStep } = definition
  if (initialStep === null || !reachable(definition, initialStep).has(stepId)) return false
  return bodiesOf(definition).every(({ steps }) => !steps.has(stepId))
}

const MAX_MISFITS = 20

/** Why a run cannot be repeated on a version. */
export function misfit(details: readonly ErrorDetail[]): AppError {
  return new AppError('VERSION_MISFIT', { details: details.slice(0, MAX_MISFITS) })
}

function stepGone(stepId: string): ErrorDetail {
  return { code: 'STEP_GONE', message: `The version has no step ${stepId} on its main path.`, stepId }
}
