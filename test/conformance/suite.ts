import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Inngest } from 'inngest'
import { describe, expect, test } from 'vitest'
import type { Journal } from './functions'

export interface UnderTest {
  client: Inngest
  journal: Journal
  /** How long a scenario may take: a real server is slower and varies its retry delays. */
  patienceMs: number
  /** Long enough for a fault to show. */
  quietMs: number
}

/** Facts that hold on every engine: which steps ran, how often and in which order. Never an engine's timings. */
export function conformanceSuite(underTest: () => UnderTest): void {
  async function run(name: string, data: object = {}, extra: object = {}): Promise<string> {
    const tag = randomUUID()
    await underTest().client.send({ name: `c/${name}`, data: { tag, ...data }, ...extra })
    return tag
  }

  async function seen(tag: string, entry: string, count = 1): Promise<string[]> {
    const { journal, patienceMs } = underTest()
    const end = Date.now() + patienceMs
    while (journal.of(tag).filter((one) => one === entry).length < count) {
      if (Date.now() > end) throw new Error(`"${entry}" was not seen; what was: ${journal.of(tag).join(', ')}`)
      await sleep(10)
    }
    return journal.of(tag)
  }

  const quiet = () => sleep(underTest().quietMs)

  describe.concurrent('steps', () => {
    test('steps run in order, once each, even with the same id', async () => {
      const tag = await run('sequence')
      const steps = Array.from({ length: 20 }, (_, i) => `step ${i + 1}`)
      expect(await seen(tag, 'sum 210')).toEqual([...steps, 'sum 210'])
    })

    test('parallel steps run once each, and the function waits for all of them', async () => {
      const tag = await run('parallel')
      expect(await seen(tag, 'sum 61')).toEqual(['first', 'part', 'part', 'part', 'sum 61'])
    })

    test('sleep and sleepUntil never end early', async () => {
      const tag = await run('sleep')
      expect(await seen(tag, 'slept')).toEqual(['slept'])
    })

    test('a step, a sleep and a wait in parallel must all end', async () => {
      const tag = await run('mixed')
      expect(await seen(tag, 'ran null')).toEqual(['ran null'])
    })

    test('step.sendEvent starts the functions that its event triggers', async () => {
      const tag = await run('sender')
      await seen(tag, 'got')
      expect((await seen(tag, 'sent 1')).toSorted()).toEqual(['got', 'sent 1'])
    })
  })

  describe.concurrent('waits', () => {
    test('an event wakes the run whose condition it matches and no other', async () => {
      const { client } = underTest()
      const [one, two] = [await run('wait', { timeout: '1h' }), await run('wait', { timeout: '3s' })]
      await Promise.all([seen(one, 'open'), seen(two, 'open')])
      await client.send({ name: 'c/answer', data: { tag: 'nobody', value: 1 } })
      await client.send({ name: 'c/answer', data: { tag: one, value: 42 } })
      expect(await seen(one, 'answer 42')).toEqual(['open', 'answer 42'])
      expect(await seen(two, 'timed out')).toEqual(['open', 'timed out'])
    })

    test('an answer sent as the wait starts is never lost', async () => {
      const tags = await Promise.all(Array.from({ length: 10 }, () => run('at-once')))
      for (const tag of tags) expect(await seen(tag, 'heard')).toEqual(['heard'])
    })

    test.each([
      ['a duration', { days: '367d' }],
      ['a date', { until: Date.now() + 367 * 86_400_000 }],
    ])('a wait of more than 366 days, as %s, fails its run', async (_form, time) => {
      const tag = await run('too-long', time)
      expect(await seen(tag, 'failed')).toEqual(['failed'])
    })

    test('a signal reaches its waiter once', async () => {
      const { client } = underTest()
      const tag = await run('signal')
      await seen(tag, 'open')
      await client.sendSignal({ signal: `signal ${tag}`, data: { ok: true } })
      expect(await seen(tag, 'signal {"ok":true}')).toEqual(['open', 'signal {"ok":true}'])
    })
  })

  describe.concurrent('failures', () => {
    test('a failing step is retried without repeating the steps before it', async () => {
      const tag = await run('retry')
      expect(await seen(tag, 'end')).toEqual(['fine', 'try', 'try', 'try', 'end'])
    })

    test('onFailure runs once, when a step has used up its retries', async () => {
      const tag = await run('failing', { how: 'step' })
      expect(await seen(tag, 'failed: step')).toEqual(['fine', 'try', 'try', 'failed: step'])
    })

    test('a NonRetriableError is not retried', async () => {
      const tag = await run('failing', { how: 'final' })
      expect(await seen(tag, 'failed: final')).toEqual(['fine', 'try', 'failed: final'])
    })

    test('an error outside steps is retried without repeating the steps', async () => {
      const tag = await run('failing', { how: 'body' })
      expect(await seen(tag, 'failed: body')).toEqual(['fine', 'try', 'try', 'failed: body'])
    })

    test('a function may catch the error of a step and continue', async () => {
      const tag = await run('caught')
      expect(await seen(tag, 'caught oh')).toEqual(['try', 'caught oh'])
    })
  })

  describe.concurrent('cancellation', () => {
    test('a cancelled run does not continue after its sleep; another run does', async () => {
      const { client } = underTest()
      const [one, two] = [await run('cancellable', { naps: '6s' }), await run('cancellable', { naps: '6s' })]
      await Promise.all([seen(one, 'begin'), seen(two, 'begin')])
      await client.send({ name: 'c/cancel', data: { tag: one } })
      expect(await seen(two, 'end')).toEqual(['begin', 'end'])
      await quiet()
      expect(await seen(one, 'cancelled')).toEqual(['begin', 'cancelled'])
    })

    test('a running step finishes, and the next one never starts', async () => {
      const { client } = underTest()
      const tag = await run('cancellable')
      await seen(tag, 'begin')
      await client.send({ name: 'c/cancel', data: { tag } })
      await seen(tag, 'cancelled')
      underTest().journal.add(tag, 'let go')
      await seen(tag, 'slow done')
      await quiet()
      expect(underTest().journal.of(tag).toSorted()).toEqual(['begin', 'cancelled', 'let go', 'slow done'])
    })

    test('a run longer than timeouts.finish is cancelled', async () => {
      const tag = await run('hasty')
      expect(await seen(tag, 'cancelled')).toEqual(['begin', 'cancelled'])
    })
  })

  describe.concurrent('invocation', () => {
    test('a parent gets the result of the function it invokes', async () => {
      const tag = await run('invoker')
      expect(await seen(tag, 'child 42')).toEqual(['child 42'])
    })

    test('the failure of an invoked function is thrown in its parent', async () => {
      const tag = await run('invoker', { fail: true })
      expect(await seen(tag, 'child failed: the child fails')).toEqual(['child failed: the child fails'])
    })
  })

  describe.concurrent('starting', () => {
    test('an event id is accepted once', async () => {
      const { client } = underTest()
      const [id, tag] = [randomUUID(), randomUUID()]
      for (let i = 0; i < 3; i++) await client.send({ id, name: 'c/sequence', data: { tag } })
      await seen(tag, 'sum 210')
      await quiet()
      expect(underTest().journal.of(tag)).toHaveLength(21)
    })

    test('an idempotency key runs once', async () => {
      const [key, tag] = [randomUUID(), randomUUID()]
      for (let i = 0; i < 3; i++) await run('once', { key, tag })
      await seen(tag, 'run')
      await run('once', { key: randomUUID(), tag })
      await seen(tag, 'run', 2)
      await quiet()
      expect(underTest().journal.of(tag)).toEqual(['run', 'run'])
    })

    test('a trigger accepts only events that match its condition', async () => {
      const no = await run('filtered', { kind: 'no' })
      const none = await run('filtered')
      const yes = await run('filtered', { kind: 'yes' })
      expect(await seen(yes, 'run')).toEqual(['run'])
      await quiet()
      expect([...underTest().journal.of(no), ...underTest().journal.of(none)]).toEqual([])
    })

    test('a limit with a key applies to each value of the key', async () => {
      const tags = [randomUUID(), randomUUID()]
      await Promise.all([0, 1, 0, 1, 0, 1].map((n) => run('keyed', { tag: tags[n], key: tags[n] })))
      for (const tag of tags) {
        const entries = await seen(tag, 'end', 3)
        expect(entries).toEqual(['begin', 'end', 'begin', 'end', 'begin', 'end'])
      }
    })

    test('a key at its limit does not delay another key', async () => {
      const [slow, quick] = [randomUUID(), randomUUID()]
      await run('keyed', { tag: slow, key: slow, after: quick })
      await seen(slow, 'begin')
      for (let i = 0; i < 3; i++) await run('keyed', { tag: slow, key: slow })
      await run('keyed', { tag: quick, key: quick })
      await seen(quick, 'end')
      expect(underTest().journal.of(slow)).toEqual(['begin'])
      await seen(slow, 'end', 4)
    })

    test('steps of a function with a limit of one never overlap', async () => {
      const tag = randomUUID()
      await Promise.all(Array.from({ length: 5 }, () => run('limited', { tag })))
      const entries = await seen(tag, 'end', 5)
      expect(entries).toEqual(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? 'begin' : 'end')))
    })
  })
}
