import type { ServiceContext } from '../context'
import type { TurnAnswer, UserMessage } from '../definition/agent'
import { AppError } from '../errors'
import { newId } from '../ids'
import { ModelFailure } from '../models/failure'
import type { LoadedAgent } from './find'
import { isInRun, type TurnFence } from './journal/attempt'
import { Journal } from './journal/journal'
import type { KnownTurn } from './journal/read'
import type { TurnRow } from './journal/record'
import { readHistory } from './messages'
import type { TurnLease } from './turn-lease'
import type { TurnRequest, TurnResult } from './turn-types'

export interface AnsweredTurn {
  threadId: string
  answer: TurnAnswer
}

/** A turn that is recorded, and all it needs to begin or to be continued. */
export interface RecordedTurn {
  agent: LoadedAgent
  /** Under what it records. */
  at: TurnFence
  turn: TurnRow
  /** Null if it begins now. */
  known: KnownTurn | null
  /** Its place in a thread that others know; null for a new thread, which exists once the turn is done. */
  lease: TurnLease | null
  asked: { userMessage: UserMessage; structured: boolean }
  /** Whether a caller of invoke or chat gets the answer. */
  keepsAnswer: boolean
}

/**
 * Answers, with each call recorded once it has ended, and the last one together with the messages and the thread: a
 * failed turn leaves no trace in its thread.
 * @param work answers the request with the journal
 */
export async function journaled(
  ctx: ServiceContext,
  { agent, at, turn, known, lease, asked, keepsAnswer }: RecordedTurn,
  work: (request: TurnRequest, journal: Journal) => Promise<TurnResult>,
): Promise<AnsweredTurn> {
  const past =
    lease === null ? NEW : await readHistory(ctx, lease.threadId, known?.turn.tools ? turn.historyTo : undefined)
  if (!known?.turn.tools) turn.historyTo = past.to
  const journal = new Journal({ ctx, at, turn, key: at.key }, known ?? undefined)
  const result = await work({ agent, history: past.history, ...asked }, journal).catch(async (err: unknown) => {
    const code = finalCode(err)
    if (code !== null) await journal.fail(code)
    throw err
  })
  const { replies, metadata, data, text } = result
  const answer = { data, text, metadata }
  if (turn.state === 'done' && turn.threadId !== null) return { threadId: turn.threadId, answer }
  const threadId = turn.threadId ?? newId('thr')
  // Its messages hide what the run hides.
  const runId = isInRun(at) && at.hides.size > 0 ? at.runId : null
  const saved = { threadId, ticket: lease?.ticket ?? null, userMessage: asked.userMessage, replies, metadata, runId }
  await journal.end({ ...saved, answer: keepsAnswer ? answer : null })
  lease?.ended()
  return { threadId, answer }
}

const NEW = { history: [], to: 0 }

/** The code of a failure that ends the turn, because the model would give the same answer again. */
export function finalCode(err: unknown): string | null {
  if (err instanceof ModelFailure) return err.transient || err.answer === null ? null : err.code
  return err instanceof AppError && err.code === 'OUTPUT_SCHEMA_MISMATCH' ? err.code : null
}
