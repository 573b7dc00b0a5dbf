import { invocationOf } from '../agents/answer-with-data'
import type { AnsweredTurn } from '../agents/journaled'
import type { TurnListener } from '../agents/turn-types'
import type { TurnEventName } from '../definition/agent'
import { type JsonObject, toStorableJson } from '../definition/json'
import type { Waiting } from './await-run'
import { chatAnswerOf } from './chat-answer'
import { PartialData } from './partial'

export interface TurnEvent {
  event: TurnEventName
  data: JsonObject
}

interface Hearing extends Pick<TurnListener, 'onText' | 'onRestart'> {
  /** Called before the last event. */
  end(): void
}

/** The events in which a turn's answer is streamed, as text or as data. */
interface AnswerEvents {
  /** Adds the pieces of an answer as they come. */
  hearing(agentId: string, add: (event: TurnEvent) => void): Hearing
  /** The pieces so far no longer count. */
  restart(agentId: string): TurnEvent
  /** An answer that nobody streamed, up to its end. */
  whole(agentId: string, answered: AnsweredTurn): TurnEvent[]
  /** The end for now. */
  waiting(waiting: Waiting): TurnEvent
  /** The end. */
  done(answered: AnsweredTurn): TurnEvent
}

const PIECES: TurnEventName[] = ['message.delta', 'answer.partial']
const WAITS: TurnEventName[] = ['message.waiting', 'answer.waiting']
/** The last events of turns. */
export const LAST: TurnEventName[] = ['message.done', 'answer.done', 'error']

export const isPiece = (event: TurnEventName) => PIECES.includes(event)
export const isWaiting = (event: TurnEventName) => WAITS.includes(event)
/** Whether an event counts only until people have answered. */
export const isQuestion = (event: TurnEventName) => event === 'approval.requested' || isWaiting(event)
/** A stream also ends where people are asked; the next one continues it. */
export const endsStream = (event: TurnEventName) => isWaiting(event) || LAST.includes(event)

export function turnEvent(event: TurnEventName, data: object): TurnEvent {
  // Each field may be as deep as a value can be.
  const fields = Object.entries(data).filter(([, value]) => value !== undefined)
  return { event, data: Object.fromEntries(fields.map(([name, value]) => [name, toStorableJson(value)])) }
}

const TEXT: AnswerEvents = {
  hearing: (agentId, add) => ({
    onText: (text) => add(turnEvent('message.delta', { text, agentId })),
    onRestart: () => add(TEXT.restart(agentId)),
    end: () => {},
  }),
  restart: (agentId) => turnEvent('message.restart', { agentId }),
  whole: (agentId, answered) => [
    turnEvent('message.delta', { text: answered.answer.text, agentId }),
    TEXT.done(answered),
  ],
  waiting: ({ threadId, runId }) => turnEvent('message.waiting', { threadId, runId }),
  done: (answered) => turnEvent('message.done', chatAnswerOf(answered)),
}

const DATA: AnswerEvents = {
  hearing: (agentId, add) => {
    const partial = new PartialData((data) => add(turnEvent('answer.partial', { data })))
    return {
      onText: (text) => partial.add(text),
      onRestart: () => {
        if (partial.end()) add(DATA.restart(agentId))
      },
      end: () => void partial.end(),
    }
  },
  restart: (agentId) => turnEvent('answer.restart', { agentId }),
  whole: (_agentId, answered) => [DATA.done(answered)],
  waiting: (waiting) => turnEvent('answer.waiting', waiting),
  done: (answered) => turnEvent('answer.done', invocationOf(answered)),
}

export function answerEvents(structured: boolean): AnswerEvents {
  return structured ? DATA : TEXT
}
