import type { pauses } from '@/db/schema/runs'
import { requireVerifiedCaller } from '../auth/cached-caller'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { checkFields } from '../definition/fields'
import { type JsonObject, jsonSize } from '../definition/json'
import { MAX_DATA_BYTES, readableSize } from '../definition/limits'
import type { PauseAnswer, PauseSignal } from '../definition/run'
import type { Fields } from '../definition/schema'
import { AppError } from '../errors'
import { requireFiles } from '../files/named'
import { claimFiles } from '../files/stage'
import { isId } from '../ids'
import {
  answerHeld,
  answerParked,
  dataAt,
  expectChange,
  findOpenPauses,
  forget,
  type OpenPause,
  type Parked,
  parkedAt,
  recallPause,
} from '../interpreter/index'
import { parseInput } from '../parse'
import { getRunRow } from '../run-store/find-run'
import { type Held, holdRun } from '../run-store/held'
import { isToAgent, requireArguments } from './asked-call'
import { askedFields, asksForFile } from './asked-fields'
import { addRemark } from './comment'
import { hasRules, isVote, requireMayAnswer } from './may-answer'
import { type Person, personOf } from './person'
import { signalOf } from './present'
import { ResumeRun } from './schema'
import { castVote, viaOf } from './vote'

/** The question that an answer is compared with. */
type Asking = Pick<typeof pauses.$inferSelect, 'id' | 'stepId' | 'kind' | 'signal'>

/**
 * How long after a resume a status request waits while the next step runs: most callers request the status next, and
 * then see the effect of their answer.
 */
const SOON_MS = 5

/** The person who answers by a task link, and the link. The caller has checked that the link still counts. */
export interface ByLink {
  person: Person
  via: string
}

/**
 * Answers an open pause. The answer and the wake-up event commit together before this returns, so an acknowledged
 * resume is applied exactly once. Of two concurrent calls, one gets RUN_NOT_PAUSED. Where votes decide, this casts one,
 * and it is the answer if it decides.
 * @throws AppError RUN_NOT_FOUND, RUN_NOT_PAUSED, INVALID_INPUT, NOT_ASSIGNED, SELF_APPROVAL, ALREADY_VOTED
 */
export async function resumeRun(ctx: ServiceContext, input: { runId: string; body: unknown }, byLink?: ByLink) {
  authorize(ctx, 'run:resume')
  const answer = parseInput(ResumeRun, input.body)
  // A key's row, a link's or a remark is written with the answer, in a transaction.
  const alone = !ctx.keyed && !byLink && remarkOf(answer) === undefined
  const stored = alone ? await answerAtOnce(ctx, input.runId, answer) : null
  if (stored) return resumed(input.runId, stored)
  requireVerifiedCaller(ctx)
  return withTransaction(ctx, (tx) => giveAnswer(tx, input.runId, answer, { byLink }))
}

function resumed(runId: string, stored: 'goes on' | 'settled') {
  if (stored === 'goes on') expectChange(runId, SOON_MS)
  return { success: true, runId, status: 'running' as const }
}

/**
 * Stores an answer and begins the next steps, in one statement. Null if that is not possible, and nothing was written.
 */
async function answerAtOnce(
  ctx: ServiceContext,
  runId: string,
  answer: ResumeRun,
): Promise<'goes on' | 'settled' | null> {
  const { parked, given, isRemembered } = await findAsked(ctx, runId, answer)
  const stored = parked && (await answerParked(ctx, parked, given))
  if (stored !== null || !isRemembered) return stored
  // The run may have changed since: read it.
  forget(runId)
  return answerAtOnce(ctx, runId, answer)
}

/** The question, and the answer as it is stored. */
interface Asked {
  /** Null if the answer is stored under the run's lock. */
  parked: Parked | null
  given: PauseAnswer
  /** Nothing was read: the question is one that this process wrote. */
  isRemembered: boolean
}

/** @throws AppError as `readPaused` */
async function findAsked(ctx: ServiceContext, runId: string, answer: ResumeRun): Promise<Asked> {
  const remembered = recallAsked(ctx, runId, answer)
  if (remembered) return remembered
  const { open, chosen, given, signal, person, uploads } = await readPaused(ctx, runId, answer)
  // A task may be handed over at any moment: then it is answered under the run's lock.
  const stays = signal.reminders?.handTo === undefined
  const mayBeAtOnce =
    stays && uploads.length === 0 && !isVote(signal) && (person === null || person.id === ctx.actor.id)
  return { parked: mayBeAtOnce ? parkedAt(open, chosen) : null, given, isRemembered: false }
}

/**
 * The question that this process has just asked, if nothing about the person matters. Rejected answers are checked by a
 * read.
 */
function recallAsked(ctx: ServiceContext, runId: string, answer: ResumeRun): Asked | null {
  const parked = ctx.reach || answer.answeredBy !== undefined ? null : recallPause(ctx.tenantId, runId)
  const signal = parked?.pause.signal
  if (!parked || !signal || hasRules(signal) || asksForFile(signal)) return null
  try {
    const { pause } = choosePause([{ pause: { ...parked.pause, kind: signal.type } }], answer)
    const given = readAnswer(pause, answer)
    refuseTooMuchData(parked.written.data, given)
    return { parked, given, isRemembered: true }
  } catch (err) {
    if (err instanceof AppError) return null
    throw err
  }
}

/** When the person gave the answer, if not now; and the link they used, if any. */
interface Given {
  at?: Date | undefined
  byLink?: ByLink | undefined
}

/** A person's remark with their answer. An empty one counts as missing. */
export function remarkOf(answer: ResumeRun): string | undefined {
  return answer.type === 'request_user_action' ? answer.remark || undefined : undefined
}

/** Answers an open pause in a transaction, as `resumeRun`. */
export async function giveAnswer(tx: TransactionContext, runId: string, answer: ResumeRun, { at, byLink }: Given = {}) {
  const { held } = await holdRun(tx, runId)
  const { run, chosen, given, signal, person, data, uploads } = await readPaused(held, runId, answer, byLink)
  await claimFiles(held, uploads, run.id)
  const via = byLink?.via ?? (person ? viaOf(tx, person) : null)
  const decided = await decide(held, chosen, { signal, data, by: person && { person, via }, given, at })
  // Votes decide when the last of them is counted.
  const then = at === undefined || isVote(signal) ? {} : { at }
  const status = decided
    ? await answerHeld(held, chosen, decided, { id: person?.id ?? tx.actor.id, via, ...then })
    : run.status
  const text = remarkOf(answer)
  if (text)
    await addRemark(tx, { runId: run.id, pauseId: chosen.pause.id, text, author: person?.id ?? tx.actor.id, at })
  return { success: true, runId: run.id, status }
}

/** The answer to a pause: the given one or, where votes decide, their decision. Null while they have not decided. */
async function decide(
  tx: Held,
  { run, pause }: OpenPause,
  vote: {
    signal: PauseSignal
    /** The run data, which all votes must leave room for. */
    data: JsonObject
    by: { person: Person; via: string | null } | null
    given: PauseAnswer
    at: Date | undefined
  },
): Promise<PauseAnswer | null> {
  const { signal, data, by, given, at } = vote
  if (!isVote(signal) || !by || !('actionId' in given)) return given
  const { decision, isDecided } = await castVote(
    tx,
    { runId: run.id, pauseId: pause.id, needs: signal.needs, at },
    by,
    given,
  )
  refuseTooMuchData(data, decision)
  return isDecided ? decision : null
}

/**
 * The paused run, its open pauses, the one to answer, and the answer as it is stored; also the person who answers, if
 * that matters, and the files in the answer that the caller has uploaded and must give to the run.
 * @throws AppError RUN_NOT_FOUND, RUN_NOT_PAUSED, INVALID_INPUT, NOT_ASSIGNED, SELF_APPROVAL
 */
export async function readPaused(ctx: ServiceContext, runId: string, answer: ResumeRun, byLink?: ByLink) {
  const open = isId(runId) ? await findOpenPauses(ctx, runId) : []
  const asking = open.filter(({ pause }) => pause.signal !== null)
  const run = open[0]?.run ?? (await getRunRow(ctx, runId))
  if (run.status !== 'paused' || asking.length === 0) {
    throw new AppError('RUN_NOT_PAUSED', { details: [{ message: `The run is ${run.status}.`, status: run.status }] })
  }
  const chosen = choosePause(asking, answer)
  const signal = signalOf(chosen.pause)
  const { answeredBy } = answer
  const matters = answeredBy !== undefined || hasRules(signal)
  const person = byLink?.person ?? (matters ? await personOf(ctx, answeredBy) : null)
  if (person) await requireMayAnswer(ctx, run.id, signal, person)
  const given = readAnswer(chosen.pause, answer)
  await requireArguments(ctx, signal, given)
  const data = await dataAt(ctx, chosen)
  if (!isToAgent(signal)) refuseTooMuchData(data, given)
  const fields = askedFields(signal, given)
  const uploads: string[] = []
  if ('data' in given && given.data) await requireFiles(ctx, fields, given.data, { at: 'data.', kept: data, uploads })
  return { run, open, chosen, given, signal, person, data, uploads }
}

/** The pause to answer: the given one, or the oldest that matches the answer's type. */
function choosePause<P extends { pause: Asking }>(open: P[], answer: ResumeRun): P {
  const named = answer.pauseId !== undefined || answer.stepId !== undefined
  const candidates = open.filter(
    ({ pause }) =>
      (answer.pauseId === undefined || pause.id === answer.pauseId) &&
      (answer.stepId === undefined || pause.stepId === answer.stepId),
  )
  if (named && candidates.length === 0) {
    throw new AppError('RUN_NOT_PAUSED', {
      message: 'The run has no such open pause',
      details: [{ message: 'The pause was answered or withdrawn, or belongs to another run.' }],
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
  if (!('data' in answer) && !('actionId' in answer)) return
  // A decision may be saved under a second name too.
  const added = 'actionId' in answer ? 2 * jsonSize(answer) : jsonSize(answer.data)
  if (jsonSize(data) + added <= MAX_DATA_BYTES) return
  const message = `With this answer, the run data would be larger than ${readableSize(MAX_DATA_BYTES)}.`
  throw new AppError('INVALID_INPUT', { details: [{ path: 'data', message }] })
}

/** @throws AppError INVALID_INPUT; the pause stays open */
function readAnswer(pause: Asking, answer: ResumeRun): PauseAnswer {
  const signal = signalOf(pause)
  if (answer.type === 'collect_inputs' && signal.type === 'collect_inputs')
    return { data: readFields(signal.fields, answer.data) }
  if (answer.type === 'request_user_action' && signal.type === 'request_user_action')
    return readDecision(signal, answer)
  throw new AppError('INVALID_INPUT', {
    details: [{ path: 'type', message: `The run waits for ${signal.type}, not ${answer.type}.` }],
  })
}

/** @throws AppError INVALID_INPUT with a detail for each problem of a field */
function readFields(fields: Fields, values: JsonObject): JsonObject {
  const { data, details } = checkFields(fields, values)
  if (details.length === 0) return data
  throw new AppError('INVALID_INPUT', {
    details: details.map((detail) => ({ ...detail, path: `data.${detail.path}` })),
  })
}

function readDecision(
  signal: Extract<PauseSignal, { type: 'request_user_action' }>,
  answer: Extract<ResumeRun, { type: 'request_user_action' }>,
): PauseAnswer {
  const { actionId, actionValue = actionId, data } = answer
  const remark = remarkOf(answer)
  const action = signal.actions.find(({ id }) => id === actionId)
  if (!action) {
    const offered = signal.actions.map(({ id }) => id).join(', ')
    throw new AppError('INVALID_INPUT', { details: [{ path: 'actionId', message: `must be one of ${offered}` }] })
  }
  const filled = action.fields ? { data: readFields(action.fields, data ?? {}) } : {}
  if (signal.remark === 'required' && remark === undefined)
    throw new AppError('INVALID_INPUT', { details: [{ path: 'remark', message: 'remark is required' }] })
  return { actionId, actionValue, ...filled, ...(signal.remark && remark !== undefined ? { remark } : {}) }
}
