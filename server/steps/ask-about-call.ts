import type { CallQuestion } from '../agents/journal/part-ends'
import { APPROVE, REJECT } from '../definition/approval'
import { jsonSize } from '../definition/json'
import { MAX_QUESTION_BYTES } from '../definition/limits'
import type { AskedAction, AskedCall } from '../definition/run'
import type { ShownValue } from '../definition/shown'
import type { Question } from './define-step'
import { askedOf } from './people'
import { expiry } from './time'

/** Labels the model's reason for its call: people must not take it for words of the workflow's author. */
const MODELS_WORDS = 'In the model’s words'

/** The question of a step's agent about a call, as people get it. */
export function askAboutCall(stepId: string, now: Date, asked: CallQuestion): Question {
  const whole = questionOf(stepId, now, asked)
  if (jsonSize(whole.signal) <= MAX_QUESTION_BYTES) return whole
  // The schema of a tool may be large.
  return questionOf(stepId, now, { ...asked, fields: {} })
}

function questionOf(stepId: string, now: Date, { id, call, policy, fields }: CallQuestion): Question {
  const { title, why, problem, assignees, dueIn, needs, noSelfApproval, expiresIn } = policy
  const approve: AskedAction = { id: APPROVE, label: 'Approve', ...(Object.keys(fields).length > 0 ? { fields } : {}) }
  const said: ShownValue[] = why === '' ? [] : [{ label: MODELS_WORDS, value: why }]
  const odd: ShownValue[] = problem === undefined ? [] : [{ label: 'Why a person decides', value: problem }]
  const { dueAt: expiresAt = null } = expiry(now, expiresIn)
  return {
    id,
    expiresAt,
    signal: {
      type: 'request_user_action',
      stepId,
      title,
      actions: [approve, { id: REJECT, label: 'Reject' }],
      remark: 'optional',
      ...askedOf(now, { assignees, dueIn }),
      show: [...policy.show, ...said, ...odd],
      ...(needs === undefined ? {} : { needs }),
      ...(noSelfApproval ? { noSelfApproval } : {}),
      call: { ...call, why } satisfies AskedCall,
    },
  }
}
