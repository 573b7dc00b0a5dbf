import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, ended, runsOf, until, type World } from './support'

describe('events', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld((client) => [
      client.createFunction({ id: 'one', triggers: [{ event: 'e/go' }] }, async ({ event }) => event),
      client.createFunction(
        {
          id: 'two',
          triggers: [
            { event: 'e/go', if: 'event.data.two' },
            { event: 'e/go', if: 'event.data.n == 1' },
          ],
        },
        async () => 'two',
      ),
      client.createFunction(
        { id: 'keyed', idempotency: 'event.data.key', triggers: [{ event: 'e/keyed' }] },
        async ({ event }) => event.data.key,
      ),
    ])
  })
  afterAll(() => world?.end())

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    world.engine.fetch(`http://embedded.invalid${path}`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  test('an event starts each function whose trigger it matches, once', async () => {
    await world.send('e/go', { two: true, n: 1 })
    await ended(world.sql, 'one')
    await ended(world.sql, 'two')
    expect([(await runsOf(world.sql, 'one')).length, (await runsOf(world.sql, 'two')).length]).toEqual([1, 1])
  })

  test('an id is accepted once, even with many senders at once', async () => {
    const id = randomUUID()
    const before = (await runsOf(world.sql, 'one')).length
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.send('e/go', {}, { id })))
    expect(new Set(answers.flatMap(({ ids }) => ids))).toEqual(new Set([id]))
    expect(await runsOf(world.sql, 'one')).toHaveLength(before + 1)
  })

  test('an id can be used again after a day', async () => {
    const id = randomUUID()
    const before = (await runsOf(world.sql, 'one')).length
    await world.send('e/go', {}, { id })
    await world.sql`update engine.events set received_at = received_at - interval '25 hours' where id = ${id}`
    await world.send('e/go', {}, { id })
    await world.send('e/go', {}, { id })
    expect(await runsOf(world.sql, 'one')).toHaveLength(before + 2)
  })

  test('a retried send is accepted once, event by event', async () => {
    const before = (await runsOf(world.sql, 'one')).length
    const seed = { 'x-inngest-event-id-seed': `${Date.now()},c2VlZA==` }
    const first = await (await post('/e/key', [{ name: 'e/go' }, { name: 'e/go' }], seed)).json()
    const second = await (await post('/e/key', [{ name: 'e/go' }, { name: 'e/go' }], seed)).json()
    expect(second).toEqual(first)
    expect(new Set(first.ids).size).toBe(2)
    expect(await runsOf(world.sql, 'one')).toHaveLength(before + 2)
  })

  test('a key runs once a day, per function', async () => {
    await Promise.all(Array.from({ length: 10 }, () => world.send('e/keyed', { key: 'a' })))
    await world.send('e/keyed', { key: 'b' })
    const runs = await ended(world.sql, 'keyed', 2)
    expect(runs.map(({ output }) => output).toSorted()).toEqual(['a', 'b'])
    await world.sql`update engine.events set received_at = received_at - interval '25 hours' where scope = 'key:app-keyed'`
    await world.send('e/keyed', { key: 'a' })
    expect(await ended(world.sql, 'keyed', 3)).toHaveLength(3)
  })

  test('any JSON arrives as it was sent, including NUL characters and lone surrogates', async () => {
    const data = { nul: 'a\0b', lone: '\ud800', deep: [[[{ x: null }]]], big: 1e300, text: 'é👍' }
    const { ids } = await world.send('e/go', data)
    const run = await until(async () =>
      (await ended(world.sql, 'one')).find(({ output }) => (output as { id: string }).id === ids[0]),
    )
    expect((run.output as { data: unknown }).data).toEqual(data)
  })

  test.each<[string, unknown]>([
    ['a body that is not JSON', '{'],
    ['an event without a name', [{ data: {} }]],
    ['data that is not an object', [{ name: 'e/go', data: 1 }]],
    ['a name of the engine’s own', [{ name: 'inngest/function.invoked', data: {} }]],
    ['a NUL in the name', [{ name: 'e/\0' }]],
    ['too long a name', [{ name: 'x'.repeat(600) }]],
  ])('rejects %s', async (_, body) => {
    expect((await post('/e/key', body)).status).toBe(400)
  })

  test('answers 404 to everything else', async () => {
    for (const path of ['/', '/e/', '/v0/runs/x/actions', '/v1/realtime/publish', '/v1/checkpoint/x', '/v2/x']) {
      expect((await post(path, {})).status).toBe(404)
    }
  })

  test('a checkpoint for an unknown claim is stale', async () => {
    const body = { run_id: 'x', fn_id: 'f', qi_id: '1:x', steps: [{ id: 'a', op: 'StepRun', data: 1 }] }
    expect((await post('/v1/checkpoint/x/async', body)).status).toBe(409)
    expect((await post('/v1/checkpoint/x/async', { ...body, qi_id: 'x' })).status).toBe(409)
    expect((await post('/v1/checkpoint/x/async', { ...body, steps: [{ id: 'a', op: 'Sleep' }] })).status).toBe(400)
  })
})
