import { expect, test } from 'vitest'
import { AdmissionQueue } from '@/inngest/engine/admission-queue'

const LONG = { ms: 60_000, signal: new AbortController().signal }

/** The queue of a process without a free slot, and the starts granted so far, in order. */
function fullProcess(most = 0) {
  const granted: string[] = []
  const queued: string[] = []
  let free = 0
  const queue = new AdmissionQueue((_lane, limit) => limit > 0 && free > 0 && free-- > 0, most)
  const come = (
    who: string,
    { lane = who.charAt(0), limit = 9, ...patience }: { lane?: string; limit?: number } & Partial<typeof LONG> = {},
  ) => queue.acquire(lane, limit, { ...LONG, ...patience }).then((yes) => void (yes ? granted : queued).push(who))
  const freed = async (slots: number) => {
    await turn()
    free += slots
    queue.grant()
    await turn()
  }
  return { queue, come, freed, granted, queued }
}

const turn = () => new Promise((next) => setImmediate(next))

test('lanes take turns, and within a lane the first comes first', async () => {
  const { come, freed, granted, queued } = fullProcess()
  for (const who of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void come(who)
  await freed(4)
  expect(granted).toEqual(['a1', 'b1', 'c1', 'a2'])
  await freed(9)
  expect(granted).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(queued).toEqual([])
})

test('a start that comes when a slot is free takes it, but not before the others of the lane', async () => {
  const { queue, come, freed, granted } = fullProcess()
  await freed(1)
  await come('a1')
  void come('a2')
  await turn()
  void come('a3')
  await freed(1)
  expect(granted).toEqual(['a1', 'a2'])
  expect(queue.room('a')).toBe('free')
})

test('a lane at its limit holds up no other', async () => {
  const { come, freed, granted } = fullProcess()
  void come('a1', { limit: 0 })
  void come('b1')
  await freed(2)
  expect(granted).toEqual(['b1'])
})

test('a start whose caller hangs up or runs out of time is queued, and takes no slot', async () => {
  const { come, freed, granted, queued } = fullProcess()
  const caller = new AbortController()
  const hungUp = come('a1', { signal: caller.signal })
  const late = come('a2', { ms: 1 })
  void come('a3')
  caller.abort()
  await Promise.all([hungUp, late])
  expect(queued).toEqual(['a1', 'a2'])
  await freed(1)
  expect(granted).toEqual(['a3'])
  await come('a4', { signal: caller.signal })
  await come('a5', { ms: 0 })
  expect(queued).toEqual(['a1', 'a2', 'a4', 'a5'])
})

test('while jobs wait in the queue, nobody waits for a slot', async () => {
  const { queue, come, freed, granted, queued } = fullProcess()
  const waiting = [come('a1'), come('b1')]
  queue.close()
  await Promise.all(waiting)
  await come('a2')
  expect(queued).toEqual(['a1', 'b1', 'a2'])
  queue.open()
  void come('a3')
  await freed(1)
  expect(granted).toEqual(['a3'])
})

test('no lane has more waiting than it leaves room for', async () => {
  const { queue, come, queued } = fullProcess(4)
  void come('a1')
  void come('a2')
  expect([queue.room('a'), queue.room('b')]).toEqual(['lane full', 'free'])
  await come('a3')
  expect(queued).toEqual(['a3'])
  void come('b1')
  void come('c1')
  expect(queue.room('d')).toBe('full')
})
