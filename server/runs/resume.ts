import type { pauses } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { checkFields } from '../definition/fields'
import { type JsonObject, jsonSize } from '../definition/json'
import { MAX_DATA_BYTES, readableSize } from '../definition/limits'
import type { PauseAnswer } from '../definition/run'
import { AppError } from '../errors'
import { isId } from '../ids'
import { answerAtRest, dataAt, type OpenPause, openPauses, writeAnswer } from '../interpreter/answer'
import { getRunRow } from '../interpreter/find-run'
import { parseInput } from '../parse'
import { signalOf } from './present'
import { ResumeRun } from './schema'

type PauseRow = typeof pauses.$inferSelect

/**
 * Answers an open pause. The answer and the wake-up event commit together before this returns, so an acknowledged
 * resume is applied exactly once. Of two at once, one gets RUN_NOT_PAUSED.
 * @throws AppError RUN_NOT_FOUND, RUN_NOT_PAUSED, INVALID_INPUT
 */
export async function resumeRun(ctx: ServiceContext, input: { runId: string; body: unknown }) {
  authorize(ctx, 'run:resume')
  const answer = parseInput(ResumeRun, input.body)
  // A key's row is written with the answer, in a transaction.
  if (!ctx.keyed) {
    const { run, open, chosen, given } = await readPaused(ctx, input.runId, answer)
    if (await answerAtRest(ctx, open, chosen, given))
      return { success: true, runId: run.id, status: 'running' as const }
  }
  return withTransaction(ctx, async (tx) => {
    const { run, chosen, given } = await readPaused(tx, input.runId, answer, { lock: true })
    const status = await writeAnswer(tx, chosen, given)
    return { success: true, runId: run.id, status }
  })
}

/**
 * The paused run, its open pauses, the one that is answered, and the answer as it is stored.
 * @throws AppError RUN_NOT_FOUND, RUN_NOT_PAUSED, INVALID_INPUT
 */
async function readPaused(ctx: ServiceContext, runId: string, answer: ResumeRun, options: { lock?: boolean } = {}) {
  if (options.lock) await getRunRow(ctx, runId, options)
  const open = isId(runId) ? await openPauses(ctx, runId) : []
  const asking = open.filter(({ pause }) => pause.signal !== null)
  const run = open[0]?.run ?? (await getRunRow(ctx, runId))
  if (run.status !== 'paused' || asking.length === 0) {
    throw new AppError('RUN_NOT_PAUSED', { details: [{ message: `The run is ${run.status}.`, status: run.status }] })
  }
  const chosen = choosePause(asking, answer)
  const given = readAnswer(chosen.pause, answer)
  refuseTooMuchData(await dataAt(ctx, chosen), given)
  return { run, open, chosen, given }
}

/** The pause to answer: the given one, or the oldest that matches the answer's type. */
function choosePause(open: OpenPause[], answer: ResumeRun): OpenPause {
  const named = answer.pauseId !== undefined || answer.stepId !== undefined
  const candidates = open.filter(
    ({ pause }) =>
      (answer.pauseId === undefined || pause.id === answer.pauseId) &&
      (answer.stepId === undefined || pause.stepId === answer.stepId),
  )
  if (named && candidates.length === 0) {
    throw new AppError('RUN_NOT_PAUSED', {
      message: 'The run is not paused there',
      details: [{ message: 'That pause is no longer open.' }],
    })
  }
  const chosen = candidates.find(({ pause }) => pause.kind === answer.type)
  if (chosen) return chosen
  throw new AppError('INVALID_INPUT', {
    details: [{ path: 'type', message: `The run waits for ${candidates[0]?.pause.kind}, not ${answer.type}.` }],
  })
}

/** @throws AppError INVALID_INPUT; the pause stays open */
function refuseTooMuchData(data: JsonObject, answer: PauseAnswer): void {
  if (!('data' in answer) || jsonSize(data) + jsonSize(answer.data) <= MAX_DATA_BYTES) return
  const message = `With this answer, the run data would be larger than ${readableSize(MAX_DATA_BYTES)}.`
  throw new AppError('INVALID_INPUT', { details: [{ path: 'data', message }] })
}

/** @throws AppError INVALID_INPUT; the pause stays open */
function readAnswer(pause: PauseRow, answer: ResumeRun): PauseAnswer {
  const signal = signalOf(pause)
  if (answer.type === 'collect_inputs' && signal.type === 'collect_inputs') {
    const { data, details } = checkFields(signal.fields, answer.data)
    if (details.length === 0) return { data }
    throw new AppError('INVALID_INPUT', {
      details: details.map((detail) => ({ ...detail, path: `data.${detail.path}` })),
    })
  }
  if (answer.type === 'request_user_action' && signal.type === 'request_user_action') {
    const offered = signal.actions.map((action) => action.id)
    if (offered.includes(answer.actionId))
      return { actionId: answer.actionId, actionValue: answer.actionValue ?? answer.actionId }
    throw new AppError('INVALID_INPUT', {
      details: [{ path: 'actionId', message: `must be one of ${offered.join(', ')}` }],
    })
  }
  throw new AppError('INVALID_INPUT', {
    details: [{ path: 'type', message: `The run waits for ${signal.type}, not ${answer.type}.` }],
  })
}
