import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { FailedTurn, TurnAsked, UserMessage } from '../definition/agent'
import { AppError, CallerGone, ImpossibleState, StepFailure } from '../errors'
import { keepUploads } from '../files/direct/find'
import { ModelFailure } from '../models/failure'
import { Budget } from './budget'
import { failedTurn, withTurn } from './failed-turn'
import { draftOf, type LoadedAgent } from './find'
import { HeldTurn, TurnTakenOver } from './journal/held-turn'
import { PartEnds } from './journal/part-ends'
import { type KnownTurn, readKeyedTurn } from './journal/read'
import { type AnsweredTurn, journaled } from './journaled'
import { createThread, dropThread, requireOpenThread } from './thread'
import { runTurn } from './turn'
import { TurnLease } from './turn-lease'
import { inTime } from './turn-time'
import type { TurnListener } from './turn-types'

/** This caller's turn, with its place in a thread if others know that. */
export interface OpenTurn {
  agent: LoadedAgent
  held: HeldTurn
  known: KnownTurn | null
  lease: TurnLease | null
}

/** How a turn of invoke or chat ended here: with an answer, or because a run continues it. */
export type Conversed = AnsweredTurn | { runId: string }

/** The answer of a turn that could not become a run. */
export function requireAnswer(ended: Conversed): AnsweredTurn {
  if ('runId' in ended) throw new ImpossibleState('turn-as-run', `a turn became the run ${ended.runId} by itself`)
  return ended
}

/** The turn of an earlier request with the same `Idempotency-Key`; null without one. */
export async function knownTurn(ctx: ServiceContext): Promise<KnownTurn | null> {
  const known = ctx.keyed ? await readKeyedTurn(ctx, ctx.keyed.outgoingKey) : null
  if (known?.answer) ctx.keyed?.doneBefore?.()
  return known
}

/** The version that a known turn keeps; undefined before its first call. */
export function keptVersion(known: KnownTurn | null): number | undefined {
  return known && known.calls.length > 0 ? known.turn.version : undefined
}

/** How a known turn ended; null if it is to be continued. */
export function endOf(known: KnownTurn | null): Conversed | null {
  if (known?.runId != null) return { runId: known.runId }
  const { threadId } = known?.turn ?? {}
  return known?.answer && threadId ? { threadId, answer: known.answer } : null
}

/** What a turn was asked, as a request to its agent has it. */
export function messageOf(asked: TurnAsked): { userMessage: UserMessage; structured: boolean } {
  const { structured, message, dataContext, files } = asked
  return { userMessage: { message, dataContext, ...(files ? { files } : {}) }, structured }
}

/** What a caller asks. */
export interface Asking {
  userMessage: UserMessage
  structured: boolean
  threadId: string | null | undefined
  /** The version of the agent. */
  version?: string | number
}

/**
 * Holds the turn, and waits for its place in an existing thread.
 * @param options.streams the thread is created if need be, and the turn recorded before its first call, as one with
 * files is, so that others can continue it
 * @throws AppError THREAD_NOT_FOUND, THREAD_BUSY, THREAD_WAITING, CallerGone
 */
export async function openTurn(
  ctx: ServiceContext,
  agent: LoadedAgent,
  { userMessage, structured, threadId, version }: Asking,
  { signal, known = null, streams }: { signal: AbortSignal; known?: KnownTurn | null; streams?: true | undefined },
): Promise<OpenTurn> {
  const { kind, id } = ctx.actor
  const by = { kind, id }
  const follows = streams ? { streams } : {}
  const wants = version === undefined ? {} : { version }
  const asked: TurnAsked = {
    ...userMessage,
    structured,
    ...wants,
    ...draftOf(agent),
    by,
    context: ctx.trusted,
    ...follows,
  }
  const wanted = known ? known.turn.threadId : (threadId ?? null)
  const isNew = wanted === null && streams === true
  const place = wanted === null ? null : await requireOpenThread(ctx, agent.id, wanted)
  const thread = isNew ? await createThread(ctx, agent.id) : place
  let lease: TurnLease | null = null
  let held: HeldTurn | null = null
  try {
    lease = thread === null ? null : await TurnLease.take(ctx, thread, signal, { turnId: known?.turn.id })
    held = known?.asked
      ? await HeldTurn.takeOver(ctx, agent, { ...known, asked: { ...known.asked, ...follows } }, lease)
      : HeldTurn.open(ctx, agent, asked, lease)
    const { files } = held.asked
    // Its uploads do not count as unused from then on.
    if ((asked.streams || files) && !known) await held.begin()
    if (files)
      await keepUploads(
        ctx,
        files.map(({ fileId }) => fileId),
      )
    return { agent, held, known, lease }
  } catch (err) {
    held?.release()
    await lease?.release()
    if (isNew && thread !== null) await dropThread(ctx, thread).catch(() => {})
    throw signal.aborted ? new CallerGone() : err
  }
}

export interface ConverseOptions {
  signal: AbortSignal
  listener?: TurnListener
  /** Receives the usage of a failed turn. */
  onFailed?: ((turn: FailedTurn) => void) | undefined
  /** Accumulates the turn's usage. */
  budget?: Budget | undefined
  /** Receives the end of the turn. */
  onEnd?: (end: Conversed | { err: unknown }) => Promise<void>
  /** Hands a turn that has to wait over to a run, and returns its id. Without it, nobody is asked. */
  asRun?: ((turn: OpenTurn) => Promise<string>) | undefined
}

/**
 * Lets the agent answer. Each call is recorded, the last one with the messages, so a failure leaves no trace in the
 * thread.
 * @throws ModelFailure, AppError OUTPUT_SCHEMA_MISMATCH, THREAD_BUSY, CallerGone, CONFLICT if the turn was taken over
 */
export async function converse(ctx: ServiceContext, turn: OpenTurn, options: ConverseOptions): Promise<Conversed> {
  const { held, lease } = turn
  const { budget = new Budget() } = options
  try {
    const ended = await answered(ctx, turn, budget, options)
    await options.onEnd?.(ended)
    return ended
  } catch (reason) {
    const failed = failedTurn(reason, budget, lease?.threadId)
    if (failed) options.onFailed?.(failed)
    const err = options.signal.aborted ? new CallerGone() : withTurn(reason, failed)
    const isLost = err instanceof TurnTakenOver || (!(await held.fail(codeOf(err))) && held.asked.streams === true)
    await options.onEnd?.({ err: isLost ? new TurnTakenOver() : err })
    throw err
  } finally {
    held.release()
    await lease?.release()
  }
}

async function answered(
  ctx: ServiceContext,
  open: OpenTurn,
  budget: Budget,
  { signal, listener, asRun }: ConverseOptions,
): Promise<Conversed> {
  const { agent, held, known, lease } = open
  if (!asRun) held.mayAsk = false
  try {
    return await journaled(
      ctx,
      { agent, at: held, turn: held.turn, known, lease, asked: messageOf(held.asked), keepsAnswer: true },
      (request, journal) =>
        inTime(agent.config.model.provider, signal, (limits) =>
          runTurn(beyondReach(ctx), request, { ...limits, listener, budget, journal }),
        ),
    )
  } catch (err) {
    if (err instanceof PartEnds && asRun) return { runId: await asRun(open) }
    throw err
  }
}

function codeOf(err: unknown): string {
  if (err instanceof CallerGone) return 'STOPPED'
  const hasCode = err instanceof AppError || err instanceof ModelFailure || err instanceof StepFailure
  return hasCode ? err.code : 'INTERNAL'
}
