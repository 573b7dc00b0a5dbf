import { expect, test } from 'vitest'
import { keepQueued, popQueued } from '@/server/interpreter/recall/queued'

const run = (n: number) => ({ id: `run_${n}` }) as never

test('a long queue is remembered from its head, within a bound of bytes', () => {
  for (let n = 0; n < 5_000; n++) keepQueued(`short ${n}`, { run: run(n), data: { n } })
  expect(popQueued('short 0')?.run.id).toBe('run_0')
  expect(popQueued('short 0')).toBeNull()

  const data = { text: 'x'.repeat(15 * 1024) }
  for (let n = 0; n < 2_000; n++) keepQueued(`long ${n}`, { run: run(n), data })
  // 16 MiB are a thousand of them: the oldest made room.
  expect(popQueued('short 1')).toBeNull()
  expect(popQueued('long 100')).toBeNull()
  const kept = Array.from({ length: 2_000 }, (_, n) => popQueued(`long ${n}`)).filter((found) => found !== null)
  expect(kept.length).toBeGreaterThan(1_000)
  expect(kept.length).toBeLessThan(1_100)
  // Once all are taken, there is room for as many again.
  for (let n = 0; n < 1_000; n++) keepQueued(`next ${n}`, { run: run(n), data })
  expect(popQueued('next 0')).not.toBeNull()
})

test('a run with much data is read again instead', () => {
  keepQueued('large', { run: run(1), data: { text: 'x'.repeat(17 * 1024) } })
  expect(popQueued('large')).toBeNull()
})
