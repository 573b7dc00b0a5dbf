import { expect, test } from 'vitest'
import { InvokeAgent } from '@/server/agents/schema'
import { parseWhole } from '@/server/parse'
import { InvokeTool } from '@/server/tools/schema'

const refused = (work: () => unknown) => {
  try {
    return work()
  } catch (err) {
    return (err as { details: unknown }).details
  }
}

test('a field that an invoke does not know is refused with the nearest name, never dropped', () => {
  expect(refused(() => parseWhole(InvokeAgent, { message: 'Hi', photos: ['x'], threadID: 't' }, ['message']))).toEqual([
    { path: 'photos', message: 'This call has no such field.' },
    { path: 'threadID', message: 'This call has no such field. Did you mean threadId?' },
  ])
  expect(refused(() => parseWhole(InvokeTool, { arg: {} }))).toEqual([
    { path: 'arg', message: 'This call has no such field. Did you mean args?' },
  ])
  const whole = { message: 'Hi', threadId: 'thr_1', dataContext: { a: 1 }, version: 2 }
  expect(parseWhole(InvokeAgent, whole, ['message'])).toMatchObject({ threadId: 'thr_1', version: 2 })
})
