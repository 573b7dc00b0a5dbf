import { type Asking, converse, endOf, knownTurn, type OpenTurn, openTurn } from '../agents/converse'
import type { LoadedAgent } from '../agents/find'
import { TurnTakenOver } from '../agents/journal/held-turn'
import type { KnownTurn } from '../agents/journal/read'
import { requireOpenThread } from '../agents/thread'
import type { TurnListener } from '../agents/turn-types'
import type { ServiceContext } from '../context'
import { AppError, ImpossibleState } from '../errors'
import type { EventSource } from '../http/sse'
import { answerEvents, turnEvent } from './answer-events'
import { asRun } from './as-run'
import { awaitAnswer } from './await-run'
import { findEvent, replay, TurnLog } from './chat-events'
import { beginningOf, type EventPlace, type Place, parseEventId } from './place'
import { failed } from './what-follows'

/** A message to an agent that was checked. */
export interface Accepted {
  agent: LoadedAgent
  /** The turn of an earlier request with the same key. */
  known: KnownTurn | null
  asking: Asking
}

/** The events of a turn, from its start. */
interface OpenEvents {
  place: Place
  read: EventSource
}

/** Streams the answer to a message. A repeat with the same key has the events of the first request, from the start. */
export async function openTurnStream(
  ctx: ServiceContext,
  accepted: Accepted,
  signal: AbortSignal,
): Promise<EventSource> {
  return (await openTurnEvents(ctx, accepted.known, signal, () => beginTurn(ctx, accepted, signal))).read
}

/**
 * Opens the events of an earlier request with the same key, or begins a turn.
 * @throws AppError what `begin` throws
 */
export async function openTurnEvents(
  ctx: ServiceContext,
  known: KnownTurn | null,
  signal: AbortSignal,
  begin: () => Promise<TurnLog>,
): Promise<OpenEvents> {
  const repeated = (place: EventPlace): OpenEvents => ({ place, read: (gone) => replay(ctx, place, gone) })
  const begun = await beginningOfKnown(ctx, known, signal)
  if (begun) return repeated(begun)
  try {
    const log = await begin()
    return { place: log.place, read: (gone) => log.read(gone) }
  } catch (err) {
    // A run has taken the turn of the earlier request over in the meantime.
    const taken = err instanceof TurnTakenOver ? await beginningOfKnown(ctx, await knownTurn(ctx), signal) : null
    if (!taken) throw err
    return repeated(taken)
  }
}

/**
 * Where the events of an earlier request with the same key begin, if its turn has ended or others continue it.
 * @returns null if this request is to begin the turn, or to try it again
 * @throws AppError why the turn failed, if its thread is gone
 */
async function beginningOfKnown(
  ctx: ServiceContext,
  known: KnownTurn | null,
  signal: AbortSignal,
): Promise<EventPlace | null> {
  const end = endOf(known)
  const isFollowed = known?.turn.state === 'working' && known.asked?.streams === true
  if (!known || !(end || isFollowed)) return null
  const place = await beginningOf(ctx, known.turn.id)
  if (place === null && end && 'runId' in end) await awaitAnswer(ctx, end.runId, signal)
  return place
}

/**
 * Starts a turn that ends with its answer, whether or not its events are read.
 * @param stop ends it before
 */
export async function beginTurn(
  ctx: ServiceContext,
  { agent, known, asking }: Accepted,
  signal: AbortSignal,
  stop?: AbortSignal,
): Promise<TurnLog> {
  const turn = await openTurn(ctx, agent, asking, { signal, known, streams: true })
  const log = new TurnLog(ctx, placeIn(turn))
  const ended = answerInStream(ctx, turn, log, stop).catch((err: unknown) =>
    ctx.log.error({ err }, 'a streamed turn ended unexpectedly'),
  )
  ctx.keyed?.heldBy(ended)
  return log
}

function placeIn({ lease }: OpenTurn) {
  if (!lease) throw new ImpossibleState('chat-thread', 'a streamed turn has no thread')
  return { threadId: lease.threadId, ticket: lease.ticket }
}

async function answerInStream(
  ctx: ServiceContext,
  turn: OpenTurn,
  log: TurnLog,
  stop: AbortSignal | undefined,
): Promise<void> {
  const events = answerEvents(turn.held.asked.structured)
  const { end: endHearing, ...hearing } = events.hearing(turn.agent.id, (event) => log.add(event))
  const listener: TurnListener = {
    ...hearing,
    onToolCall: ({ name, ...call }) => log.add(turnEvent('tool.call', { ...call, toolId: name })),
    onToolResult: ({ name, ...result }) => log.add(turnEvent('tool.result', { ...result, toolId: name })),
    onHandOff: (handOff) => log.add(turnEvent('handoff', handOff)),
  }
  await converse(ctx, turn, {
    // Unless the caller may stop it, only the deadline ends the turn.
    signal: stop ?? new AbortController().signal,
    listener,
    asRun: (held) => asRun(ctx, held),
    onEnd: async (end) => {
      endHearing()
      if ('answer' in end) log.add(events.done(end))
      else if ('err' in end && end.err instanceof TurnTakenOver) await log.leave()
      else if ('err' in end) log.add(failed(ctx, end.err, log.place.threadId))
      await log.flush()
    },
  })
    // What a run does is known by its rows.
    .then((ended) => ('runId' in ended ? log.leave() : undefined))
    .catch(() => {}) // The listener has already sent this as an event.
}

/** @throws AppError INVALID_INPUT */
export function requirePlace(lastEventId: string): EventPlace {
  const place = parseEventId(lastEventId)
  if (!place) throw unknownEvent()
  return place
}

/**
 * Streams what follows an event of a turn that answers in this form; null if that was the last.
 * @throws AppError THREAD_NOT_FOUND, INVALID_INPUT if no stream of the last hour has had it
 */
export async function resumeStream(
  ctx: ServiceContext,
  { agentId, place, structured }: { agentId: string; place: EventPlace; structured: boolean },
): Promise<EventSource | null> {
  await requireOpenThread(ctx, agentId, place.threadId)
  const found = await findEvent(ctx, place, structured)
  if (!found) throw unknownEvent()
  return found.last ? null : (signal) => replay(ctx, place, signal)
}

function unknownEvent(): AppError {
  const message = 'is not an id of an event of the last hour'
  return new AppError('INVALID_INPUT', { details: [{ path: 'Last-Event-ID', message }] })
}
