import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { readAgain } from '@/app/(dashboard)/[tenant]/_live/read-again'

/** A list on a screen whose reads the test ends, with what the server had when they began. */
function onScreen() {
  const cache = new QueryClient()
  const ends: (() => void)[] = []
  let tasks = 0
  const queryFn = () => {
    const found = tasks
    return new Promise<number>((resolve) => ends.push(() => resolve(found)))
  }
  const observer = new QueryObserver(cache, { queryKey: ['tasks'], queryFn })
  const leave = observer.subscribe(() => {})
  const change = () => {
    tasks += 1
    return readAgain(cache, ['tasks'])
  }
  return { ends, change, leave, shown: () => cache.getQueryData(['tasks']) }
}

test('a change during the first read of a list is shown', async () => {
  const { ends, change, leave, shown } = onScreen()
  await expect.poll(() => ends.length).toBe(1)
  const read = change()
  ends[0]?.()
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.()
  await read
  expect(shown()).toBe(1)
  leave()
})

test('a change after it costs one read', async () => {
  const { ends, change, leave, shown } = onScreen()
  await expect.poll(() => ends.length).toBe(1)
  ends[0]?.()
  await expect.poll(shown).toBe(0)
  const read = change()
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.()
  await read
  expect([shown(), ends.length]).toEqual([1, 2])
  leave()
})
