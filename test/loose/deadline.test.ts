import { queryObjects } from 'node:v8'
import { describe, expect, test } from 'vitest'
import { Deadline } from '@/lib/deadline'

const never = new Promise<never>(() => {})
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('the work ended'),
    (err: unknown) => err,
  )

describe('a deadline', () => {
  test('fires when time is up, with the reason created for it', async () => {
    const late = new Error('late')
    const deadline = new Deadline(undefined, 20, () => late)
    expect(deadline.late).toBe(false)
    expect(await reasonOf(deadline.race(never))).toBe(late)
    expect([deadline.late, deadline.signal.reason]).toEqual([true, late])
  })

  test('fires when its caller aborts, with the caller’s reason', async () => {
    const caller = new AbortController()
    const gone = new Error('gone')
    const deadline = new Deadline(caller.signal, 60_000, () => new Error('late'))
    const work = reasonOf(deadline.race(never))
    caller.abort(gone)
    expect(await work).toBe(gone)
    expect(deadline.late).toBe(false)
    const after = new Deadline(caller.signal, 60_000, () => new Error('late'))
    expect(await reasonOf(after.race(never))).toBe(gone)
    // Even if the work is already done, because nobody waits for it any more.
    expect(await reasonOf(after.race(Promise.resolve(1)))).toBe(gone)
  })

  test('does not fire after its release; if ended, it fires at once', async () => {
    const caller = new AbortController()
    const released = new Deadline(caller.signal, 10, () => new Error('late'))
    released.release()
    const ended = new Deadline(caller.signal, 60_000, () => new Error('late'))
    ended.end()
    expect(ended.signal.aborted).toBe(true)
    caller.abort()
    await new Promise((done) => setTimeout(done, 30))
    expect(released.signal.aborted).toBe(false)
  })

  test('leaves nothing behind on a long-lived caller', async () => {
    const caller = new AbortController()
    const use = async (times: number) => {
      for (let i = 0; i < times; i++) {
        const deadline = new Deadline(caller.signal, 60_000, () => new Error('late'))
        deadline.signal.addEventListener('abort', () => {})
        await deadline.race(Promise.resolve())
        deadline.release()
      }
      return queryObjects(AbortSignal, { format: 'count' }) as unknown as number
    }
    const before = await use(5)
    expect(await use(200)).toBeLessThanOrEqual(before + 5)
  })
})
