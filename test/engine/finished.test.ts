import { expect, test } from 'vitest'
import type { Claim, EngineContext } from '@/inngest/engine/context'
import { Finished } from '@/inngest/engine/finished'

// Finished jobs are removed together: each statement is a commit.

/** @param awaited whether a lane at its limit waits for them */
function open(awaited: () => boolean = () => false) {
  const removed: string[] = []
  const rows = async ([text = '']: TemplateStringsArray) => {
    if (/^\s*delete/.test(text)) removed.push(text)
  }
  const ctx = { byKey: rows, sql: rows, log: { debug: () => {} } } as unknown as EngineContext
  const finished = new Finished(ctx, () => {}, awaited)
  const add = (count: number) => {
    for (let n = 0; n < count; n++) finished.add({ jobId: `job_${n}`, generation: '1' } as Claim)
  }
  return { finished, add, removed }
}

const turn = () => new Promise((next) => setImmediate(next))

test('jobs that end one after the other are removed in one statement', async () => {
  const { add, removed, finished } = open()
  for (let n = 0; n < 5; n++) {
    add(1)
    await turn()
  }
  expect(removed).toEqual([])
  await expect.poll(() => removed.length).toBe(1)
  add(1)
  await finished.settled()
  expect(removed).toHaveLength(2)
})

const one = ({ add }: ReturnType<typeof open>) => add(1)
const many = ({ add }: ReturnType<typeof open>) => add(32)
const stops = ({ add, finished }: ReturnType<typeof open>) => {
  add(1)
  void finished.settled()
}

test.each([
  ['a lane at its limit waits for it', one, () => true],
  ['there is much of it', many, undefined],
  ['the process stops', stops, undefined],
] as const)('it is removed at once if %s', async (_when, act, awaited) => {
  const opened = open(awaited)
  act(opened)
  for (let turns = 0; turns < 5; turns++) await turn()
  expect(opened.removed).toHaveLength(1)
})
