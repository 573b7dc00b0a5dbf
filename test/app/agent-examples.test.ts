import { expect, test } from 'vitest'
import { exampleMessages } from '@/app/(dashboard)/[tenant]/agents/[agentId]/examples'

test('an agent’s examples are the messages it received, each once, and none that was cut', () => {
  expect(
    exampleMessages(['Where is N-20417?', null, 'x'.repeat(120), 'Where is N-20417? ', 'Thanks', 'a', 'b']),
  ).toEqual(['Where is N-20417?', 'Thanks', 'a'])
})

test('an agent without messages has two neutral examples', () => {
  expect(exampleMessages([null, ''])).toHaveLength(2)
})
