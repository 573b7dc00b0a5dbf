import { and, eq, isNull } from 'drizzle-orm'
import { processWide } from '@/db/process-wide'
import { pauses } from '@/db/schema/runs'
import { allows } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject, type JsonObject, toStorableJson } from '../definition/json'
import { env } from '../env'
import { AppError } from '../errors'
import { isListening, mark, watchRun } from '../interpreter/index'
import { requireMayAnswer } from '../runs/may-answer'
import { personOf } from '../runs/person'
import type { PresentedRun } from '../runs/present'
import { presentSignal, signalOf } from '../runs/present'
import { resumeRun } from '../runs/resume'
import { callerMaskerOf } from '../runs/run-masker'
import { getRunStatus } from '../runs/status'
import { waitForRun } from '../runs/wait'
import { answerTo, questionId, questionOf, readQuestionId } from './questions'
import { outlineOf, result } from './results'

/** How long a person has for all questions of one call: proxies and platforms end a response after five minutes. */
const PATIENCE_MS = 240_000
/** Without and with notifications: one may be lost, and an answer that another process takes sends none. */
const POLL_MS = { deaf: 1_000, listening: 15_000 }

/** Open questions of this process: a person may also decline, which changes nothing in the run. */
const declined = () => processWide('mcp.questions', () => new Map<string, () => void>())

/** Sends a message to the calling client. */
type Send = (message: JsonObject) => void

/**
 * Puts a run's questions to the person behind a client, until the run has ended, waits for another person, or stays
 * unanswered.
 * @returns the call's final result; null if it could ask nothing
 */
export async function askFor(
  ctx: ServiceContext,
  runId: string,
  signal: AbortSignal,
  send: () => Send,
): Promise<JsonObject | null> {
  const deadline = performance.now() + PATIENCE_MS
  let asked = false
  let run = await getRunStatus(ctx, { runId })
  while (run.status === 'paused' && !signal.aborted) {
    const question = await firstQuestion(ctx, run)
    if (!question) break
    const since = mark()
    asked = true
    if (!(await isAnswered(ctx, run, question, { deadline, signal, send: send() }))) break
    run = await waitForRun(ctx, runId, env().SYNC_START_TIMEOUT_MS, signal, since)
  }
  return asked ? toStorableJson({ ...result(outlineOf(run), run.status === 'failed') }) : null
}

/** The first pause that fits into a form and that the caller may answer. */
async function firstQuestion(ctx: ServiceContext, run: PresentedRun) {
  if (!allows(ctx, 'run:resume')) return null
  const person = await personOf(ctx)
  const masker = await callerMaskerOf(ctx, run.runId)
  for (const { id: pauseId } of run.pauseSignals) {
    const [row] = await openPause(ctx, run.runId, pauseId)
    if (!row) continue
    const signal = signalOf(row)
    const question = questionOf(presentSignal(signal, masker))
    const mayAnswer = question && (await requireMayAnswer(ctx, run.runId, signal, person).then(yes, no))
    if (mayAnswer) return { id: questionId(signal.type, run.runId, pauseId), pauseId, ...question }
  }
  return null
}

const yes = () => true
function no(err: unknown): false {
  if (err instanceof AppError) return false
  throw err
}

function openPause({ db, tenantId }: ServiceContext, runId: string, pauseId: string) {
  return db
    .select()
    .from(pauses)
    .where(
      and(
        ...[eq(pauses.tenantId, tenantId), eq(pauses.runId, runId), eq(pauses.id, pauseId)],
        isNull(pauses.answeredAt),
      ),
    )
}

/** Sends a question and waits until anybody answers its pause. */
async function isAnswered(
  ctx: ServiceContext,
  { runId }: PresentedRun,
  { id, pauseId, ...params }: { id: string; pauseId: string; message: string; requestedSchema: JsonObject },
  { deadline, signal, send }: { deadline: number; signal: AbortSignal; send: Send },
): Promise<boolean> {
  let refused = false
  let wake: () => void = () => {}
  const unwatch = watchRun(runId, () => wake(), { every: true })
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  declined().set(id, () => {
    refused = true
    wake()
  })
  try {
    send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { ...params } })
    while (performance.now() < deadline && !signal.aborted) {
      if ((await openPause(ctx, runId, pauseId)).length === 0) return true
      if (refused) return false
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, isListening() ? POLL_MS.listening : POLL_MS.deaf)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return false
  } finally {
    declined().delete(id)
    signal.removeEventListener('abort', onAbort)
    unwatch()
  }
}

/**
 * Takes a client's response to a question. It answers with the response's own credential, so any process may take it. A
 * rejected answer leaves the run unchanged, and the asking call returns the run's open pauses.
 * @returns whether it was such a response
 */
export async function takeAnswer(ctx: ServiceContext, message: JsonObject): Promise<boolean> {
  if (message.method !== undefined) return false
  const asked = readQuestionId(message.id)
  if (!asked) return false
  const given = isJsonObject(message.result) ? message.result : {}
  if (given.action === 'accept') {
    const { type, pauseId, runId } = asked
    const body = answerTo(type, pauseId, isJsonObject(given.content) ? given.content : {})
    const refusal = await resumeRun(ctx, { runId, body }).then(
      () => null,
      (err: unknown) => err,
    )
    if (refusal === null) return true
    if (!(refusal instanceof AppError)) throw refusal
    ctx.log.info({ code: refusal.code, runId }, 'an answer from an MCP client was refused')
  }
  declined().get(String(message.id))?.()
  return true
}
