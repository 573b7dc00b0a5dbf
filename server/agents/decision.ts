import type { ReachedLimit } from '../definition/agent'
import { APPROVE, type ApprovalQuestion, type CallDecision } from '../definition/approval'
import { inStoredOrder, type JsonObject, type JsonValue, own } from '../definition/json'
import type { PauseAnswer } from '../definition/run'
import { StepFailure } from '../errors'

/** The answer to a question of a turn; null if the question was withdrawn. */
export interface Answered {
  answer: PauseAnswer | null
  by: string | null
  /** Of a question at a limit. */
  limit?: ReachedLimit | null
}

/**
 * What people decided about a call.
 * @throws StepFailure TIMED_OUT if nobody did in time, and the policy says that the step fails then
 */
export function decisionOf(
  { onExpiry, title }: ApprovalQuestion,
  { answer, by }: Answered,
  asked: JsonObject,
): CallDecision {
  if (answer && 'due' in answer && onExpiry === 'fail')
    throw new StepFailure('TIMED_OUT', `Nobody decided in time: ${title}`)
  if (!answer || !('actionId' in answer)) return { approved: false, by: null }
  const { actionId, data = {}, remark, votes } = answer
  const given = inStoredOrder(asked) as JsonObject
  const isOther = ([name, value]: [string, JsonValue]) =>
    JSON.stringify(own(given, name)) !== JSON.stringify(inStoredOrder(value))
  const changed = Object.entries(data).filter(isOther)
  return {
    approved: actionId === APPROVE,
    by,
    ...(votes ? { voters: votes.filter((vote) => vote.actionId === actionId).map((vote) => vote.by) } : {}),
    ...(changed.length > 0 ? { args: Object.fromEntries(changed) } : {}),
    ...(remark === undefined ? {} : { remark }),
  }
}

/** What the model reads about a call that was not approved. A person's remark is passed on, not their name. */
export function refusalOf({ by, remark }: CallDecision): string {
  const refused = by === null ? 'Nobody approved this call in time.' : 'A person did not approve this call.'
  return remark === undefined ? refused : `${refused} They said: ${remark}`
}
