import { Deadline } from '@/lib/deadline'
import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { withTransaction } from '../context'
import type { FailedTurn, UserMessage } from '../definition/agent'
import { env } from '../env'
import { CallerGone } from '../errors'
import { ModelFailure } from '../models/failure'
import { OutgoingKeys } from '../tools/outgoing-keys'
import { hiddenNames } from '../vault/run-values'
import { Budget } from './budget'
import { failedTurn, withTurn } from './failed-turn'
import type { LoadedAgent } from './find'
import { readHistory, saveTurn } from './messages'
import { createThread, dropThread, requireOpenThread } from './thread'
import { runTurn } from './turn'
import { TurnLease } from './turn-lease'
import type { TurnListener, TurnOptions, TurnResult } from './turn-types'

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
  log?: TurnOptions['log']
  /** The key of the asking step, otherwise the request's own; without either, tools get no keys. */
  idempotencyKey?: string | undefined
  /** The run of the asking step. */
  runId?: string | undefined
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
  const limitMs = env().AGENT_TIMEOUT_MS
  const limit = new Deadline(options.signal, limitMs, () => new DOMException('The turn took too long', 'TimeoutError'))
  const { signal } = limit
  const deadline = performance.now() + limitMs
  const key = options.idempotencyKey ?? ctx.keyed?.outgoingKey
  const keys = key === undefined ? undefined : new OutgoingKeys(key)
  const { budget = new Budget() } = options
  let saved = false
  try {
    const runId = await hidingRun(ctx, options.runId)
    const history = isNew ? [] : await readHistory(ctx, threadId)
    const result = await runTurn(
      beyondReach(ctx),
      { agent, history, ...input },
      { signal, deadline, listener: options.listener, log: options.log, keys, budget },
    )
    const answer = await withTransaction(ctx, async (tx) => {
      await lease.confirm(tx)
      const { replies, metadata } = result
      await saveTurn(tx, threadId, { userMessage: input.userMessage, replies, metadata, runId })
      return options.answer(result)
    })
    saved = true
    await options.onEnd?.({ answer })
    return answer
  } catch (thrown) {
    const { provider } = agent.config.model
    const tooLate = `and the agent's tools did not finish within ${limitMs} ms`
    const reason = limit.late ? new ModelFailure(provider, tooLate, { transient: true }) : thrown
    const turn = failedTurn(reason, budget, isNew && !options.keepThread ? undefined : threadId)
    if (turn) options.onFailed?.(turn)
    const err = options.signal.aborted ? new CallerGone() : withTurn(reason, turn)
    await options.onEnd?.({ err })
    throw err
  } finally {
    limit.release()
    await lease.release()
    if (isNew && !saved && !options.keepThread) await dropThread(ctx, threadId).catch(() => {})
  }
}

/** The run, if its workflow has sensitive fields. */
async function hidingRun(ctx: ServiceContext, runId: string | undefined): Promise<string | null> {
  if (runId === undefined) return null
  const names = (await hiddenNames(ctx, [runId])).get(runId)
  return names && names.size > 0 ? runId : null
}
