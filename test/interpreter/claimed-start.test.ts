import { expect, test } from 'vitest'
import { SLOTS } from '@/inngest/engine/settings'
import { keepClaimed, takeClaimed } from '@/server/interpreter/write/claimed-start'

// A start that is lost on its way to its engine run costs an attempt of its first step.

test('as many starts are kept as walks can be claimed before they are driven', () => {
  const ids = Array.from({ length: SLOTS }, (_, index) => `engine_run_${index}`)
  for (const id of ids) keepClaimed(id, { receipt: { next: { stepId: id, visit: 1 } }, begun: null })
  for (const id of ids) expect(takeClaimed(id)?.receipt).toEqual({ next: { stepId: id, visit: 1 } })
  // Each is driven once.
  expect(takeClaimed('engine_run_0')).toBeNull()
})
