import { describe, expect, test } from 'vitest'
import { parseConfig } from '@/server/steps/config'
import type { AnyStep } from '@/server/steps/define-step'
import { requestUserAction } from '@/server/steps/request-user-action'

if (requestUserAction.mode !== 'pause') throw new Error('request-user-action must pause')
const { ask, answer, check } = requestUserAction
const actions = [
  { id: 'approve', label: 'Approve' },
  { id: 'reject', label: 'Reject' },
]
const config = (raw: object) => parseConfig(requestUserAction as unknown as AnyStep, raw as never) as never

describe('request-user-action', () => {
  test('pauses with the documented descriptor', () => {
    expect(
      ask({ stepId: 'boss', config: config({ actions, message: 'May we?' }), data: {}, now: new Date(0) }),
    ).toEqual({
      signal: { type: 'request_user_action', stepId: 'boss', actions, message: 'May we?' },
    })
  })

  test('shows a title that resolved to another type as text', () => {
    expect(ask({ stepId: 'boss', config: config({ actions, title: 12.5 }), data: {}, now: new Date(0) })).toMatchObject(
      {
        signal: { title: '12.5' },
      },
    )
  })

  test('stores the choice under the step id, and under saveAs too', () => {
    const chosen = { actionId: 'approve', actionValue: 'approved' }
    expect(answer({ stepId: 'boss', config: config({ actions }), answer: chosen })).toEqual({
      output: chosen,
      delta: { boss: chosen },
      exit: 'approve',
    })
    expect(answer({ stepId: 'boss', config: config({ actions, saveAs: 'verdict' }), answer: chosen }).delta).toEqual({
      boss: chosen,
      verdict: chosen,
    })
  })

  test('reports a problem if there is no action, or two have the same id', () => {
    expect(() => config({ actions: [] })).toThrow('at least one action')
    expect(check?.(config({ actions: [actions[0], actions[0]] }))).toHaveLength(1)
  })
})
