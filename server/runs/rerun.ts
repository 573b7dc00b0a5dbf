import { z } from 'zod'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AGENT_TURN } from '../definition/agent-turn'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'
import { checkFields } from '../definition/fields'
import { type JsonObject, own } from '../definition/json'
import { sensitiveFields, withHidden, withoutHidden } from '../definition/sensitive'
import { StepRef } from '../definition/step-ref'
import { AppError, type ErrorDetail } from '../errors'
import { requireFiles } from '../files/named'
import { claimFiles } from '../files/stage'
import { FILE_PART } from '../http/multipart-input'
import { insertRun } from '../interpreter/index'
import { parseInput } from '../parse'
import { getRunRow } from '../run-store/find-run'
import { checkEdits, refuseTooMuchData } from './edits'
import { filledWith, NO_FILES, type SentFiles } from './input'
import type { RunRow } from './present'
import { refuseRepeated } from './repeated'
import { rerunFrom } from './rerun-from'
import { AgainVersion, findVersionAgain, misfit, RepeatCalls, requireFit, type VersionAgain } from './version-again'

export const RerunBody = component('RerunRun', {
  data: z
    .record(z.string(), AnyJson)
    .optional()
    .describe('Input to replace that of the old run; with `fromStepId`, fields to replace in its run data.'),
  fromStepId: StepRef.optional().describe(
    'The step to continue at, keeping what was done before its latest visit. The first step by default.',
  ),
  version: AgainVersion.optional(),
  repeatCalls: RepeatCalls.optional(),
})

const ANSWERS_MESSAGE = 'The run answers a message to an agent. Send the message again, or retry the run if it failed.'

/**
 * Starts a new run like an earlier one, on the same version or on another that its input or data fits: from the first
 * step, with the old input or with new input; or from a step that the old run reached, with the run data it had there,
 * in which `data` replaces fields. The old run stays as it is and may have any status. A sensitive field that is still
 * hidden in `data` keeps its value.
 * @param options.sent staged files, by the name of their part as in a form, for fields that `data` leaves out
 * @param options.useful refuse to repeat a run that was repeated before
 * @throws AppError RUN_NOT_FOUND, FORBIDDEN, INVALID_INPUT, CONFLICT, WORKFLOW_ARCHIVED, WORKFLOW_NOT_FOUND,
 * VALIDATION_FAILED, VERSION_MISFIT
 */
export async function rerunRun(
  ctx: ServiceContext,
  input: { runId: string; body: unknown },
  { sent = NO_FILES, useful = false }: { sent?: SentFiles; useful?: boolean } = {},
) {
  authorize(ctx, 'run:retry')
  const { data: edited, fromStepId, version, repeatCalls = false } = parseInput(RerunBody, input.body)
  return withTransaction(ctx, async (tx) => {
    const old = await getRunRow(tx, input.runId, { lock: useful })
    if (useful) await refuseRepeated(tx, old.id)
    if (old.workflowId === AGENT_TURN.workflowId) throw new AppError('CONFLICT', { message: ANSWERS_MESSAGE })
    const on = await findVersionAgain(tx, old, version)
    const hides = new Set([...sensitiveFields(on.before), ...sensitiveFields(on.whole)])
    const runId =
      fromStepId === undefined
        ? await rerunFromStart(tx, old, on, edited && withHidden(edited, old.input, hides), sent)
        : await rerunFrom(tx, old, on, { fromStepId, edits: withoutHidden(edited ?? {}, hides), repeatCalls })
    await record(
      tx,
      'run.rerun',
      { id: old.id, name: old.workflowName },
      {
        newRun: runId,
        ...(fromStepId === undefined ? {} : { fromStep: fromStepId }),
        ...(edited ? { edited: Object.keys(edited) } : {}),
        ...(version === undefined ? {} : { version: on.version }),
      },
    )
    return { success: true, runId, retryOf: old.id }
  })
}

async function rerunFromStart(
  tx: TransactionContext,
  old: RunRow,
  on: VersionAgain,
  given: JsonObject | undefined,
  sent: SentFiles,
): Promise<string> {
  const { definition } = on
  const input = await inputAgain(tx, old, on, given, sent)
  if (definition.initialStep === null) throw new AppError('CONFLICT', { message: 'The version has no first step' })
  const newFiles = [...sent.values()].flat()
  await requireFiles(tx, on.whole.payload, input, { at: 'data.', kept: old.input, staged: newFiles })
  const runId = await insertRun(tx, {
    workflowId: old.workflowId,
    workflowVersion: on.version,
    definition,
    input,
    firstStep: definition.initialStep,
    // Use the new caller's verified facts: one user's must never accompany another user's input.
    context: tx.trusted,
    retryOf: old.id,
    test: old.startedVia === 'test',
    part: old.part,
  })
  if (runId === null) throw new AppError('WORKFLOW_ARCHIVED')
  await claimFiles(tx, newFiles, runId)
  return runId
}

/** The input of the new run: that of the old one, unless other input is given. */
async function inputAgain(
  tx: TransactionContext,
  old: RunRow,
  on: VersionAgain,
  given: JsonObject | undefined,
  sent: SentFiles,
): Promise<JsonObject> {
  const { part, input: before } = old
  if (part && 'only' in part) {
    // The part has no START fields: its input is the data that earlier steps would have returned.
    if (given) {
      authorize(tx, 'workflow:write')
      checkEdits({}, given)
      refuseTooMuchData(given)
    }
    const data = given ?? before
    if (on.isOther) await requireFit(tx, old, on, part.only, { data, before: null })
    return data
  }
  if (!given && !on.isOther) return before
  const { payload } = on.definition
  const details: ErrorDetail[] = []
  const checked = checkFields(payload, given ? filledWith(payload, given, sent, details) : before)
  details.push(...checked.details)
  if (details.length > 0 && !given) throw misfit(details.map((detail) => ({ ...detail, code: 'INPUT_MISFIT' })))
  if (details.length > 0) {
    throw new AppError('INVALID_INPUT', {
      details: details.map((detail) => ({ ...detail, path: `data.${detail.path}` })),
    })
  }
  // The id of a form's file is not a declared field, so preserve it; the file still exists.
  const fileId = sent.get(FILE_PART)?.[0] ?? own(before, 'fileId')
  return fileId === undefined ? checked.data : { fileId, ...checked.data }
}
