import { expect, test } from 'vitest'
import { Door } from '@/inngest/engine/door'

const LONG = { ms: 60_000, signal: new AbortController().signal }

/** A door before so many slots, and who was admitted so far, in order. */
function closed(most = 0) {
  const admitted: string[] = []
  const queued: string[] = []
  let free = 0
  const door = new Door((_lane, limit) => limit > 0 && free > 0 && free-- > 0, most)
  const come = (
    who: string,
    { lane = who.charAt(0), limit = 9, ...patience }: { lane?: string; limit?: number } & Partial<typeof LONG> = {},
  ) => door.wait(lane, limit, { ...LONG, ...patience }).then((yes) => void (yes ? admitted : queued).push(who))
  const freed = async (slots: number) => {
    await turn()
    free += slots
    door.admit()
    await turn()
  }
  return { door, come, freed, admitted, queued }
}

const turn = () => new Promise((next) => setImmediate(next))

test('lanes take turns, and within a lane the first comes first', async () => {
  const { come, freed, admitted, queued } = closed()
  for (const who of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void come(who)
  await freed(4)
  expect(admitted).toEqual(['a1', 'b1', 'c1', 'a2'])
  await freed(9)
  expect(admitted).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(queued).toEqual([])
})

test('whoever comes when a slot is free takes it, but not before the others of the lane', async () => {
  const { door, come, freed, admitted } = closed()
  await freed(1)
  await come('a1')
  void come('a2')
  await turn()
  void come('a3')
  await freed(1)
  expect(admitted).toEqual(['a1', 'a2'])
  expect(door.room('a')).toBe('free')
})

test('a lane at its limit holds up no other', async () => {
  const { come, freed, admitted } = closed()
  void come('a1', { limit: 0 })
  void come('b1')
  await freed(2)
  expect(admitted).toEqual(['b1'])
})

test('whoever hangs up or runs out of time is queued, and takes no slot', async () => {
  const { come, freed, admitted, queued } = closed()
  const caller = new AbortController()
  const hungUp = come('a1', { signal: caller.signal })
  const late = come('a2', { ms: 1 })
  void come('a3')
  caller.abort()
  await Promise.all([hungUp, late])
  expect(queued).toEqual(['a1', 'a2'])
  await freed(1)
  expect(admitted).toEqual(['a3'])
  await come('a4', { signal: caller.signal })
  await come('a5', { ms: 0 })
  expect(queued).toEqual(['a1', 'a2', 'a4', 'a5'])
})

test('while jobs wait in the queue, nobody waits at the door', async () => {
  const { door, come, freed, admitted, queued } = closed()
  const waiting = [come('a1'), come('b1')]
  door.close()
  await Promise.all(waiting)
  await come('a2')
  expect(queued).toEqual(['a1', 'b1', 'a2'])
  door.open()
  void come('a3')
  await freed(1)
  expect(admitted).toEqual(['a3'])
})

test('no lane has more waiting than it leaves room for', async () => {
  const { door, come, queued } = closed(4)
  void come('a1')
  void come('a2')
  expect([door.room('a'), door.room('b')]).toEqual(['lane full', 'free'])
  await come('a3')
  expect(queued).toEqual(['a3'])
  void come('b1')
  void come('c1')
  expect(door.room('d')).toBe('full')
})
