import { expect, onTestFinished, test } from 'vitest'
import { takeLongTurn } from './long-turn'

test('a turn that takes 2.5 times as long as the platform lets a step continues in parts and makes no call twice', async () => {
  const settings = { MILLRACE_TEST_STEP_MS: '4000', AGENT_TIMEOUT_MS: '2000' }
  const { parts } = await takeLongTurn({ callMs: 1_000, stepMs: 4_000, settings }, (undo) =>
    onTestFinished(async () => void (await undo())),
  )
  expect(parts).toBeGreaterThan(2)
}, 180_000)
