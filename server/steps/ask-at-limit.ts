import type { LimitQuestion } from '../agents/journal/part-ends'
import { APPROVE, REJECT } from '../definition/approval'
import type { Question } from './define-step'
import { askedOf } from './people'
import { expiry } from './time'

/** The question of a step's agent whether it continues at a limit, as people get it. */
export function askAtLimit(stepId: string, now: Date, { id, limit, title, show, at }: LimitQuestion): Question {
  const { ask: assignees, dueIn, expiresIn } = at
  const { dueAt: expiresAt = null } = expiry(now, expiresIn)
  return {
    id,
    expiresAt,
    signal: {
      type: 'request_user_action',
      stepId,
      title,
      message: '**Go on** lets this message use as much again. **Stop** fails it.',
      actions: [
        { id: APPROVE, label: 'Go on' },
        { id: REJECT, label: 'Stop' },
      ],
      ...askedOf(now, { assignees, dueIn }),
      show,
      limit,
    },
  }
}
