import { expect, test } from 'vitest'
import { takenIn } from '@/app/(dashboard)/[tenant]/runs/[runId]/exits-taken'
import type { Visit } from '@/app/(dashboard)/[tenant]/runs/[runId]/timeline-model'
import type { Definition } from '@/server/definition/schema'
import { catalogOf } from '@/server/steps/catalog'
import { stepTypes } from '@/server/steps/registry'

const definition: Definition = {
  name: 'Approval',
  description: '',
  initialStep: 'decide',
  steps: [
    {
      id: 'decide',
      type: 'request-user-action',
      actions: [
        { id: 'approve', label: 'Approve' },
        { id: 'reject', label: 'Reject' },
      ],
    },
    { id: 'refused', type: 'end-flow' },
    { id: 'done', type: 'end-flow' },
  ],
  edges: [
    { from: 'decide', to: 'refused', on: 'reject' },
    { from: 'decide', to: 'done' },
  ],
  payload: {},
}

/** The exits that a run took at the decision, one of them recorded. */
function taken(chosen: string, exit: string) {
  const visit = { stepId: 'decide', exit, status: 'completed', fork: null } as Visit
  const answer = { size: 1, value: { actionId: chosen, actionValue: chosen } }
  const counts = takenIn(definition, catalogOf(stepTypes()), [visit], [{ stepId: 'decide', label: '', answer }])
  return Object.fromEntries(counts.get('decide') ?? [])
}

test('an action counts as taken even if the run continues by the exit of the others, and never twice', () => {
  expect(taken('approve', 'next')).toEqual({ next: 1, approve: 1 })
  expect(taken('reject', 'reject')).toEqual({ reject: 1 })
  expect(taken('gone', 'next')).toEqual({ next: 1 })
})
