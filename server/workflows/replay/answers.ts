import type { EventValue } from '../../definition/event'
import { checkFields } from '../../definition/fields'
import { isJsonObject, type JsonObject, own } from '../../definition/json'
import type { PauseAnswer, PauseSignal } from '../../definition/run'
import type { Fields } from '../../definition/schema'
import type { Misfit, Place, Reason } from '../../definition/verdict'
import { type Entry, matchesEvent, type Position } from '../../interpreter/flow/index'
import type { Asked } from '../../steps/define-step'
import type { FactCame } from './facts'
import { Undetermined, type Unknowns } from './unknown'

type Recorded = Extract<FactCame, { output: unknown } | { answer: unknown }>

/** @throws Undetermined unless a step takes a value that may not be seen as it did in the run */
export type Hides = (reason: Reason) => void

/** How an answer may be checked. */
interface Checking {
  place: Place
  unknowns: Unknowns
  hides: Hides
}

/**
 * The answer of a run, given to a question that may be another one now.
 * @throws Undetermined if it does not fit
 */
export function answerAgain(
  { type }: Entry<Position>,
  asked: Asked | null,
  came: Recorded,
  checking: Checking,
): PauseAnswer {
  const refuse = (misfit: Misfit) => new Undetermined({ place: checking.place, why: 'answer', misfit })
  if (type.mode === 'pause' && type.startsRun)
    return 'answer' in came ? came.answer : { child: { result: came.output } }
  const given = givenIn(came)
  if (asked?.event) {
    const event = given as unknown as EventValue
    const { name, key, rules } = asked.event
    if (event.name !== name) throw refuse('event')
    const keys = key === null ? null : checking.unknowns.reasonIn([key, event.key])
    if (keys) checking.hides(keys)
    else if (key !== null && event.key !== key) throw refuse('event')
    const hidden = checking.unknowns.reasonIn([given, rules.values])
    if (hidden) checking.hides(hidden)
    else if (!matchesEvent(rules, event)) throw refuse('event')
    return { event }
  }
  if (asked?.signal?.type === 'collect_inputs') {
    const { data, details } = checkKnown(asked.signal.fields, given, checking.unknowns, checking.hides)
    if (details[0]) throw refuse({ form: details[0].message })
    return { data }
  }
  return asked?.signal ? decidedAgain(asked.signal, given, refuse, checking) : { due: true }
}

/**
 * Checks values as `checkFields` does, without those that may not be seen: they passed when they were given.
 * @param hides is asked for each
 */
export function checkKnown(
  fields: Fields,
  given: JsonObject,
  unknowns: Unknowns,
  hides: (reason: Reason, name: string) => void,
): ReturnType<typeof checkFields> {
  const hidden = new Map(
    Object.keys(fields).flatMap((name) => {
      const reason = unknowns.reasonIn(own(given, name))
      return reason ? [[name, reason] as const] : []
    }),
  )
  if (hidden.size === 0) return checkFields(fields, given)
  for (const [name, reason] of hidden) hides(reason, name)
  const known = <T>(of: Record<string, T>) =>
    Object.fromEntries(Object.entries(of).filter(([name]) => !hidden.has(name)))
  const { data, details } = checkFields(known(fields), known(given))
  const values = Object.keys(fields).flatMap((name) => {
    const value = own(hidden.has(name) ? given : data, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return { data: Object.fromEntries(values), details }
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
  { unknowns, hides }: Checking,
): PauseAnswer {
  const { actionId, actionValue, remark, votes } = given
  const action = actions.find(({ id }) => id === actionId)
  if (!action) throw refuse({ action: String(actionId) })
  const { data, details } = checkKnown(action.fields ?? {}, given, unknowns, hides)
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
