import type { EventValue } from '../../definition/event'
import { checkFields } from '../../definition/fields'
import { isJsonObject, type JsonObject } from '../../definition/json'
import type { PauseAnswer, PauseSignal } from '../../definition/run'
import { type Entry, matchesEvent, type Position } from '../../interpreter/flow/index'
import type { Asked } from '../../steps/define-step'
import type { FactCame, Place } from './facts'
import { type Misfit, Undetermined } from './unknown'

type Recorded = Extract<FactCame, { output: unknown } | { answer: unknown }>

/**
 * The answer of a run, given to a question that may be another one now.
 * @throws Undetermined if it does not fit
 */
export function answerAgain({ type }: Entry<Position>, asked: Asked | null, came: Recorded, place: Place): PauseAnswer {
  const refuse = (misfit: Misfit) => new Undetermined({ place, why: 'answer', misfit })
  if (type.mode === 'pause' && type.startsRun)
    return 'answer' in came ? came.answer : { child: { result: came.output } }
  const given = givenIn(came)
  if (asked?.event) {
    const event = given as unknown as EventValue
    const { name, key, rules } = asked.event
    if (event.name !== name || (key !== null && event.key !== key) || !matchesEvent(rules, event)) throw refuse('event')
    return { event }
  }
  if (asked?.signal?.type === 'collect_inputs') {
    const { data, details } = checkFields(asked.signal.fields, given)
    if (details[0]) throw refuse({ form: details[0].message })
    return { data }
  }
  return asked?.signal ? decidedAgain(asked.signal, given, refuse) : { due: true }
}

/** The answer as its step stores it. */
function givenIn(came: Recorded): JsonObject {
  if ('output' in came) return isJsonObject(came.output) ? came.output : {}
  const { answer } = came
  if ('event' in answer) return answer.event
  if ('actionId' in answer) return { ...answer.data, ...withoutData(answer) }
  return 'data' in answer ? answer.data : {}
}

function withoutData({ data: _data, ...rest }: Extract<PauseAnswer, { actionId: string }>): JsonObject {
  return JSON.parse(JSON.stringify(rest))
}

function decidedAgain(
  { actions, remark: asks, needs }: Extract<PauseSignal, { type: 'request_user_action' }>,
  given: JsonObject,
  refuse: (misfit: Misfit) => Error,
): PauseAnswer {
  const { actionId, actionValue, remark, votes } = given
  const action = actions.find(({ id }) => id === actionId)
  if (!action) throw refuse({ action: String(actionId) })
  const { data, details } = checkFields(action.fields ?? {}, given)
  if (details[0]) throw refuse({ fields: details[0].message, of: action.label })
  const cast = Array.isArray(votes) ? votes : []
  const needed = needs ? (needs[action.id] ?? 1) : 0
  if (cast.filter((vote) => isJsonObject(vote) && vote.actionId === action.id).length < needed) throw refuse('votes')
  return {
    ...{ actionId: action.id, actionValue: String(actionValue ?? action.id), data },
    ...(asks !== undefined && typeof remark === 'string' ? { remark } : {}),
    ...(needs ? { votes: cast } : {}),
  } as PauseAnswer
}
