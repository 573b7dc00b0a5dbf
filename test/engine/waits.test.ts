import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, ended, runsOf, until, type World } from './support'

describe('waits', () => {
  const after: unknown[] = []
  let world: World
  beforeAll(async () => {
    world = await createWorld((client) => [
      client.createFunction({ id: 'w', triggers: [{ event: 'w/start' }] }, async ({ event, step }) => {
        const found = await step.waitForEvent('wait', {
          event: 'w/answer',
          timeout: event.data.timeout ?? '1h',
          if: "async.data.key == event.data.key && async.data.kind != 'no'",
        })
        return found ? found.data.value : 'nothing'
      }),
      client.createFunction({ id: 'any', triggers: [{ event: 'w/any' }] }, async ({ step }) => {
        const both = await Promise.all([
          step.waitForEvent('one', { event: 'w/broadcast', timeout: '1h' }),
          step.waitForEvent('two', { event: 'w/broadcast', timeout: '1h' }),
        ])
        return both.map((event) => event?.data.n)
      }),
      client.createFunction({ id: 'now', triggers: [{ event: 'w/now' }] }, async ({ event, step }) => {
        const [found] = await Promise.all([
          step.waitForEvent('wait', { event: 'w/nudge', timeout: '10m', match: 'data.key' }),
          step.sendEvent('publish', { name: 'w/nudge', data: { key: event.data.key } }),
        ])
        return found !== null
      }),
      client.createFunction({ id: 'odd', retries: 0, triggers: [{ event: 'w/odd' }] }, async ({ step }) =>
        step.waitForEvent('wait', { event: 'w/answer', timeout: '1h', if: 'async.data.n > 1' }),
      ),
      client.createFunction({ id: 'long', retries: 0, triggers: [{ event: 'w/long' }] }, async ({ step }) =>
        step.sleep('nap', '400d'),
      ),
      client.createFunction({ id: 'sig', retries: 0, triggers: [{ event: 'w/sig' }] }, async ({ event, step }) => {
        const found = await step.waitForSignal('sig', {
          signal: event.data.signal,
          timeout: '1h',
          ...(event.data.replace ? { onConflict: 'replace' as const } : {}),
        })
        return found === null ? 'nothing' : found.data
      }),
      client.createFunction({ id: 'race', triggers: [{ event: 'w/race' }] }, async ({ group, step }) => {
        const winner = await group.parallel({ mode: 'race' }, () =>
          Promise.race([
            step.waitForEvent('never', { event: 'w/none', timeout: '1h' }),
            step.run('fast', () => 'fast'),
          ]),
        )
        await step.run('after', () => after.push(winner))
        return winner
      }),
    ])
  })
  afterAll(() => world?.end())

  const waiting = (functionId: string, count = 1) =>
    until(async () => {
      const rows = await world.sql`
        select w.run_id from engine.waits w join engine.runs r on r.id = w.run_id
        where r.function_id = ${`app-${functionId}`} and w.kind in ('event', 'signal', 'replaced')`
      return rows.length === count && rows
    })

  test('only an event that matches the whole condition wakes the run', async () => {
    await world.send('w/start', { key: 'k' })
    await waiting('w')
    await world.send('w/answer', { key: 'other', kind: 'yes', value: 1 })
    await world.send('w/answer', { key: 'k', kind: 'no', value: 2 })
    await world.send('w/answer', { key: 'k', value: 3 })
    expect(await runsOf(world.sql, 'w')).toMatchObject([{ status: 'running' }])
    await world.send('w/answer', { key: 'k', kind: 'yes', value: 4 })
    expect(await ended(world.sql, 'w')).toMatchObject([{ status: 'completed', output: 4 }])
  })

  test('a wait ends with null after its time-out', async () => {
    await world.send('w/start', { key: 't', timeout: '1s' })
    const runs = await ended(world.sql, 'w', 2)
    expect(runs[1]).toMatchObject({ status: 'completed', output: 'nothing' })
  })

  test('one event ends every wait it matches, and each gets one result', async () => {
    await world.send('w/any')
    await world.send('w/any')
    await waiting('any', 4)
    await Promise.all([1, 2, 3].map((n) => world.send('w/broadcast', { n })))
    const runs = await ended(world.sql, 'any', 2)
    expect(runs).toHaveLength(2)
    for (const { status, pending } of runs) expect({ status, pending }).toEqual({ status: 'completed', pending: 0 })
  })

  test('an answer published as the wait starts is never missed', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, i) => world.send('w/now', { key: `key ${i}` })))
    const runs = await ended(world.sql, 'now', 30)
    expect(runs.filter(({ output }) => output === true)).toHaveLength(30)
  })

  test('an unreadable condition, and too long a sleep, fail their run with a reason', async () => {
    await world.send('w/odd')
    await world.send('w/long')
    const [odd] = await ended(world.sql, 'odd')
    expect(odd).toMatchObject({ status: 'failed', output: { message: expect.stringContaining('Not supported') } })
    const [long] = await ended(world.sql, 'long')
    expect(long).toMatchObject({ status: 'failed', output: { message: expect.stringContaining('366 days') } })
  })

  test('a signal without a waiter is 404; a signal with one reaches it once', async () => {
    const post = (signal: string, data?: unknown) =>
      world.engine.fetch('http://embedded.invalid/v1/signals', {
        method: 'POST',
        body: JSON.stringify({ signal, data }),
      })
    expect((await post('one')).status).toBe(404)
    await world.send('w/sig', { signal: 'one' })
    const [wait] = await waiting('sig')
    const answer = await post('one', { n: 1 })
    expect(await answer.json()).toMatchObject({ data: { run_id: wait?.run_id } })
    expect((await post('one')).status).toBe(404)
    expect(await ended(world.sql, 'sig')).toMatchObject([{ status: 'completed', output: { n: 1 } }])
  })

  test('a second waiter for a signal fails, unless it replaces the first, which then times out', async () => {
    await world.send('w/sig', { signal: 'two' })
    const [first] = await waiting('sig')
    await world.send('w/sig', { signal: 'two' })
    expect((await ended(world.sql, 'sig', 2)).find(({ status }) => status === 'failed')).toMatchObject({
      output: { message: 'Another run already waits for this signal' },
    })
    await world.send('w/sig', { signal: 'two', replace: true })
    await waiting('sig', 2)
    await world.sql`update engine.waits set expires_at = now() where run_id = ${first?.run_id ?? ''}`
    world.engine.kick()
    await world.client.sendSignal({ signal: 'two', data: 'new' })
    const runs = await ended(world.sql, 'sig', 4)
    expect(runs.map(({ output }) => output)).toContain('new')
    expect(runs.map(({ output }) => output)).toContain('nothing')
  })

  test('in a race the function continues with the first result, and ends when the last one is there', async () => {
    await world.send('w/race')
    await until(() => after.length > 0)
    expect(after).toEqual(['fast'])
    expect(await runsOf(world.sql, 'race')).toMatchObject([{ status: 'running' }])
    await until(async () => (await runsOf(world.sql, 'race'))[0]?.pending === 1)
    await world.send('w/none')
    expect(await ended(world.sql, 'race')).toMatchObject([{ status: 'completed', output: 'fast', pending: 0 }])
    expect(after).toEqual(['fast'])
  })
})
