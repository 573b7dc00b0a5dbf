import type { ServiceContext } from '../../context'
import { isJsonObject, type JsonObject, type JsonValue } from '../../definition/json'
import type { PauseAnswer, PauseSignal } from '../../definition/run'
import { HIDDEN } from '../../definition/sensitive'
import type { Place } from '../../definition/verdict'
import type { Asked } from '../../steps/define-step'
import type { FactCame } from './facts'
import type { Failure } from './source'
import type { Unknowns } from './unknown'

/** An answer as a person gives it to a step that asks nobody. */
export type TypedAnswer =
  | { data: JsonObject }
  | { actionId: string; data?: JsonObject | undefined; remark?: string | undefined }
  | { event: JsonObject; key?: string | undefined }

/** What came of a visit, as far as a person has said. */
export type TypedFact = Place & { came: { output: JsonValue } | { failed: Failure } | { answer: TypedAnswer } }

/** Who votes. */
export interface Voter {
  id: string
  name: string
}

export function voterOf({ actor }: Pick<ServiceContext, 'actor'>): Voter {
  return { id: actor.id, name: actor.kind === 'user' ? actor.name : actor.id }
}

/** As a fact, without what the product adds to an answer. */
export function typedCame(came: TypedFact['came']): FactCame {
  if (!('answer' in came)) return came
  const { answer } = came
  if ('event' in answer) {
    const { event: data, key = null } = answer
    return { answer: { event: { id: '', name: '', key, data, receivedAt: '' } } }
  }
  if (!('actionId' in answer)) return { answer }
  const { actionId, data, remark } = answer
  const given = { ...(data ? { data } : {}), ...(remark === undefined ? {} : { remark }) }
  return { answer: { actionId, actionValue: actionId, ...given } }
}

/** Adds to an answer what the product adds in a run. */
export function completed(came: FactCame, asked: Asked | null, { now, voter }: { now: Date; voter: Voter }): FactCame {
  if (typeof came === 'string' || !('answer' in came)) return came
  const { answer } = came
  if ('event' in answer && asked?.event) {
    const { name, key } = asked.event
    const { data } = answer.event
    const event = { id: 'evt_typed', name, key: answer.event.key ?? key, data, receivedAt: now.toISOString() }
    return { answer: { event } }
  }
  return 'actionId' in answer && asked?.signal ? { answer: { ...answer, ...votes(asked.signal, answer, voter) } } : came
}

const MAX_VOTES = 100

/** As many as the action needs: it is about what follows. */
function votes(
  signal: PauseSignal,
  { actionId, data, remark }: Extract<PauseAnswer, { actionId: string }>,
  { id: by, name }: Voter,
): object {
  if (signal.type !== 'request_user_action' || !signal.needs) return {}
  const vote = { by, name, actionId, ...(data ? { data } : {}), ...(remark === undefined ? {} : { remark }) }
  const needed = Math.min(signal.needs[actionId] ?? 1, MAX_VOTES)
  return { votes: Array.from({ length: needed }, (_, nth) => (nth === 0 ? vote : { ...vote, by: `${by}#${nth}` })) }
}

/** Values that a screen has hidden come back as such. They are unknown. */
export function hiddenAsUnknown<T>(unknowns: Unknowns, sent: T): T {
  const place = { branch: 'main', stepId: '', visit: 0 }
  const json = (value: JsonValue): JsonValue => {
    if (value === HIDDEN) return unknowns.make({ why: 'hidden', place })
    if (Array.isArray(value)) return value.map(json)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, json(part)]))
  }
  return json(sent as JsonValue) as T
}
