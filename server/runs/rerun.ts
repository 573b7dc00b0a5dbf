import { z } from 'zod'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AGENT_TURN } from '../definition/agent-turn'
import { AnyJson } from '../definition/any-json'
import type { AuditDetails } from '../definition/audit'
import { component } from '../definition/component'
import { checkFields } from '../definition/fields'
import { own } from '../definition/json'
import { sensitiveFields, withHidden, withoutHidden } from '../definition/sensitive'
import { StepRef } from '../definition/step-ref'
import { AppError, type ErrorDetail } from '../errors'
import { requireFiles } from '../files/named'
import { claimFiles } from '../files/stage'
import { FILE_PART } from '../http/multipart-input'
import { insertRun } from '../interpreter/index'
import { parseInput } from '../parse'
import { partAsRun } from '../run-store/definition'
import { getRunRow } from '../run-store/find-run'
import { findVersionToRun } from '../workflows/find-version-to-run'
import { checkEdits, refuseTooMuchData } from './edits'
import { filledWith, NO_FILES, type SentFiles } from './input'
import { rerunFrom } from './rerun-from'

export const RerunBody = component('RerunRun', {
  data: z
    .record(z.string(), AnyJson)
    .optional()
    .describe('Input to replace that of the old run; with `fromStepId`, fields to replace in its run data.'),
  fromStepId: StepRef.optional().describe(
    'The step to continue at, keeping what was done before its latest visit. The first step by default.',
  ),
})

const ANSWERS_MESSAGE = 'The run answers a message to an agent. Send the message again, or retry the run if it failed.'

/**
 * Starts a new run like an earlier one on the same version: from the first step, with the old input or with new input;
 * or from a step that the old run reached, with the run data it had there, in which `data` replaces fields. The old run
 * stays as it is and may have any status. A sensitive field that is still hidden in `data` keeps its value.
 * @param sent staged files, by the name of their part as in a form, for fields that `data` leaves out
 * @throws AppError RUN_NOT_FOUND, FORBIDDEN, INVALID_INPUT, CONFLICT, WORKFLOW_ARCHIVED, WORKFLOW_NOT_FOUND
 */
export async function rerunRun(
  ctx: ServiceContext,
  input: { runId: string; body: unknown },
  sent: SentFiles = NO_FILES,
) {
  authorize(ctx, 'run:retry')
  const { data: edited, fromStepId } = parseInput(RerunBody, input.body)
  const newFiles = [...sent.values()].flat()
  return withTransaction(ctx, async (tx) => {
    const old = await getRunRow(tx, input.runId)
    if (old.workflowId === AGENT_TURN.workflowId) throw new AppError('CONFLICT', { message: ANSWERS_MESSAGE })
    const note = (newRun: string, details: AuditDetails = {}) =>
      record(tx, 'run.rerun', { id: old.id, name: old.workflowName }, { newRun, ...details })
    const found = await findVersionToRun(tx, old.workflowId, String(old.workflowVersion))
    const { part } = old
    const { version } = found
    const definition = part ? partAsRun(found.definition, part) : found.definition
    const hides = sensitiveFields(found.definition)
    if (fromStepId !== undefined) {
      const edits = withoutHidden(edited ?? {}, hides)
      const runId = await rerunFrom(tx, old, definition, { fromStepId, edits })
      await note(runId, { fromStep: fromStepId, ...(edited ? { edited: Object.keys(edited) } : {}) })
      return { success: true, runId, retryOf: old.id }
    }
    const before = old.input
    let next = before
    const given = edited && withHidden(edited, before, hides)
    if (given && part && 'only' in part) {
      // The part has no START fields: its input is the data that earlier steps would have returned.
      authorize(tx, 'workflow:write')
      checkEdits({}, given)
      refuseTooMuchData(given)
      next = given
    } else if (given) {
      const details: ErrorDetail[] = []
      const checked = checkFields(definition.payload, filledWith(definition.payload, given, sent, details))
      const { data } = checked
      details.push(...checked.details)
      if (details.length > 0) {
        throw new AppError('INVALID_INPUT', {
          details: details.map((detail) => ({ ...detail, path: `data.${detail.path}` })),
        })
      }
      // The id of a form's file is not a declared field, so preserve it; the file still exists.
      const fileId = sent.get(FILE_PART)?.[0] ?? own(before, 'fileId')
      next = fileId === undefined ? data : { fileId, ...data }
    }
    if (definition.initialStep === null) throw new AppError('CONFLICT', { message: 'The version has no first step' })
    await requireFiles(tx, found.definition.payload, next, { at: 'data.', kept: before, staged: newFiles })
    const runId = await insertRun(tx, {
      workflowId: old.workflowId,
      workflowVersion: version,
      definition,
      input: next,
      firstStep: definition.initialStep,
      // Use the new caller's verified facts: one user's must never accompany another user's input.
      context: tx.trusted,
      retryOf: old.id,
      test: old.startedVia === 'test',
      part,
    })
    if (runId === null) throw new AppError('WORKFLOW_ARCHIVED')
    await claimFiles(tx, newFiles, runId)
    await note(runId, edited ? { edited: Object.keys(edited) } : {})
    return { success: true, runId, retryOf: old.id }
  })
}
