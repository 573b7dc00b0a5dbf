import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { withTransaction } from '../context'
import { Deadline } from '../deadline'
import type { UserMessage } from '../definition/agent'
import { env } from '../env'
import { AppError } from '../errors'
import type { AnswerEnd } from '../models/answer-end'
import { ModelFailure } from '../models/failure'
import { OutgoingKeys } from '../outgoing-keys'
import type { LoadedAgent } from './find'
import { readHistory, saveTurn } from './messages'
import { createThread, dropThread, requireThread } from './thread'
import { runTurn } from './turn'
import { TurnLease } from './turn-lease'
import type { TurnListener, TurnOptions, TurnResult } from './turn-types'

/** This caller's turn in a thread. */
export interface OpenTurn {
  agent: LoadedAgent
  lease: TurnLease
  /** The thread was created for this turn, so it is removed if the turn fails. */
  isNew: boolean
}

/**
 * Finds or creates the thread and waits for its turn.
 * @throws AppError THREAD_NOT_FOUND, THREAD_BUSY, CallerGone
 */
export async function openTurn(
  ctx: ServiceContext,
  agent: LoadedAgent,
  threadId: string | null | undefined,
  signal: AbortSignal,
): Promise<OpenTurn> {
  const isNew = threadId === null || threadId === undefined
  const id = isNew ? await createThread(ctx, agent.id) : await requireThread(ctx, agent.id, threadId)
  try {
    return { agent, lease: await TurnLease.take(ctx, id, signal), isNew }
  } catch (err) {
    if (isNew) await dropThread(ctx, id).catch(() => {})
    throw signal.aborted ? new CallerGone() : err
  }
}

/** The caller disconnected; nobody reads this error. */
class CallerGone extends AppError {
  constructor() {
    super('CONFLICT', { message: 'The caller disconnected' })
  }
}

export interface ConverseOptions<T> {
  signal: AbortSignal
  listener?: TurnListener
  log?: TurnOptions['log']
  /** Of the step that asks. A request's own otherwise; without either, tools get no keys. */
  idempotencyKey?: string | undefined
  /** Keeps a thread created for a turn that fails, because events refer to it. */
  keepThread?: boolean
  answer: (result: TurnResult) => T
  /** Called with how the turn ended, while this caller still owns it. */
  onEnd?: (end: { answer: T } | { err: unknown }) => Promise<void>
}

/**
 * Lets the agent answer and saves the turn in one transaction, so a failure leaves no trace in the thread.
 * @throws ModelFailure, AppError OUTPUT_SCHEMA_MISMATCH, THREAD_BUSY, CallerGone
 */
export async function converse<T>(
  ctx: ServiceContext,
  { agent, lease, isNew }: OpenTurn,
  input: { userMessage: UserMessage; structured: boolean },
  options: ConverseOptions<T>,
): Promise<T> {
  const { threadId } = lease
  const limitMs = env().AGENT_TIMEOUT_MS
  const limit = new Deadline(options.signal, limitMs, () => new DOMException('The turn took too long', 'TimeoutError'))
  const { signal } = limit
  const deadline = performance.now() + limitMs
  const key = options.idempotencyKey ?? ctx.keyed?.outgoingKey
  const keys = key === undefined ? undefined : new OutgoingKeys(key)
  let saved = false
  try {
    const history = isNew ? [] : await readHistory(ctx, threadId)
    const result = await runTurn(
      beyondReach(ctx),
      { agent, history, ...input },
      { signal, deadline, listener: options.listener, log: options.log, keys },
    )
    const answer = await withTransaction(ctx, async (tx) => {
      await lease.confirm(tx)
      const { replies, metadata } = result
      await saveTurn(tx, threadId, { userMessage: input.userMessage, replies, metadata })
      return options.answer(result)
    })
    saved = true
    await options.onEnd?.({ answer })
    return answer
  } catch (thrown) {
    const { provider } = agent.config.model
    const tooLate = `and the agent's tools did not finish within ${limitMs} ms`
    const err = options.signal.aborted
      ? new CallerGone()
      : limit.late
        ? new ModelFailure(provider, tooLate, { transient: true })
        : thrown
    await options.onEnd?.({ err })
    throw err
  } finally {
    limit.release()
    await lease.release()
    if (isNew && !saved && !options.keepThread) await dropThread(ctx, threadId).catch(() => {})
  }
}

/** Turns a model's failure into the error callers see, which names the provider. */
export function toAppError(err: unknown): unknown {
  if (!(err instanceof ModelFailure)) return err
  return new AppError('MODEL_ERROR', {
    details: [
      {
        message: err.message,
        provider: err.provider,
        retryable: err.transient,
        ...(err.status === null ? {} : { status: err.status }),
        ...(err.answer ? answerFacts(err.answer) : {}),
        ...(err.code === 'MODEL_ERROR' ? {} : { code: err.code }),
      },
    ],
    cause: err,
    ...(err.retryAfterMs === null
      ? {}
      : { headers: { 'retry-after': String(Math.min(3600, Math.ceil(err.retryAfterMs / 1000))) } }),
  })
}

function answerFacts({ finishReason, refusal }: AnswerEnd) {
  return { finishReason, ...(refusal === null ? {} : { refusal }) }
}
