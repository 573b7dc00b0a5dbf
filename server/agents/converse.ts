import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { withTransaction } from '../context'
import type { FailedTurn, UserMessage } from '../definition/agent'
import { CallerGone } from '../errors'
import { OutgoingKeys } from '../tools/outgoing-keys'
import { Budget } from './budget'
import { failedTurn, withTurn } from './failed-turn'
import type { LoadedAgent } from './find'
import { readHistory, saveTurn } from './messages'
import { createThread, dropThread, requireOpenThread } from './thread'
import { runTurn } from './turn'
import { TurnLease } from './turn-lease'
import { inTime } from './turn-time'
import type { TurnListener, TurnResult } from './turn-types'

/** This caller's turn in a thread. */
export interface OpenTurn {
  agent: LoadedAgent
  lease: TurnLease
  /** Whether the thread was created for this turn, to remove it if the turn fails. */
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
  const id = isNew ? await createThread(ctx, agent.id) : await requireOpenThread(ctx, agent.id, threadId)
  try {
    return { agent, lease: await TurnLease.take(ctx, id, signal), isNew }
  } catch (err) {
    if (isNew) await dropThread(ctx, id).catch(() => {})
    throw signal.aborted ? new CallerGone() : err
  }
}

export interface ConverseOptions<T> {
  signal: AbortSignal
  listener?: TurnListener
  /** Keeps a thread created for a failed turn, because events refer to it. */
  keepThread?: boolean
  answer: (result: TurnResult) => T
  /** Receives the usage of a failed turn. */
  onFailed?: ((turn: FailedTurn) => void) | undefined
  /** Accumulates the turn's usage. */
  budget?: Budget | undefined
  /** Receives the end of the turn, while this caller still owns it. */
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
  const key = ctx.keyed?.outgoingKey
  const keys = key === undefined ? undefined : new OutgoingKeys(key)
  const { budget = new Budget(), listener } = options
  let saved = false
  try {
    const { history } = isNew ? { history: [] } : await readHistory(ctx, threadId)
    const request = { agent, history, ...input }
    const result = await inTime(agent.config.model.provider, options.signal, (limits) =>
      runTurn(beyondReach(ctx), request, { ...limits, listener, keys, budget }),
    )
    const answer = await withTransaction(ctx, async (tx) => {
      await lease.confirm(tx)
      const { replies, metadata } = result
      await saveTurn(tx, threadId, { userMessage: input.userMessage, replies, metadata, runId: null })
      return options.answer(result)
    })
    saved = true
    await options.onEnd?.({ answer })
    return answer
  } catch (reason) {
    const turn = failedTurn(reason, budget, isNew && !options.keepThread ? undefined : threadId)
    if (turn) options.onFailed?.(turn)
    const err = options.signal.aborted ? new CallerGone() : withTurn(reason, turn)
    await options.onEnd?.({ err })
    throw err
  } finally {
    await lease.release()
    if (isNew && !saved && !options.keepThread) await dropThread(ctx, threadId).catch(() => {})
  }
}
