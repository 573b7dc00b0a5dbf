import type { Inngest, InngestFunction } from 'inngest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { createNode } from './node'

describe('registration', () => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database?.close())

  type Options = Record<string, unknown>
  async function start(options: Options, define?: (client: Inngest) => InngestFunction.Any[]): Promise<void> {
    const node = createNode(
      database.sql,
      define ??
        ((client) => [
          client.createFunction({ id: 'f', triggers: [{ event: 'a/b' }], ...options } as never, async () => undefined),
        ]),
    )
    try {
      await node.engine.start()
    } finally {
      await node.engine.stop({ graceMs: 0 })
    }
  }

  test.each<[string, Options]>([
    ['batchEvents', { batchEvents: { maxSize: 2, timeout: '1s' } }],
    ['debounce', { debounce: { period: '1s' } }],
    ['throttle', { throttle: { limit: 1, period: '1s' } }],
    ['rateLimit', { rateLimit: { limit: 1, period: '1s' } }],
    ['singleton', { singleton: { mode: 'skip' } }],
    ['priority', { priority: { run: '1' } }],
  ])('rejects %s by name instead of ignoring it', async (field, options) => {
    await expect(start(options)).rejects.toThrow(new RegExp(`app-f: not supported: ${field}`))
  })

  test.each<[string, Options]>([
    ['two limits of concurrency', { concurrency: [{ limit: 1 }, { limit: 2, key: 'event.data.a' }] }],
    ['a limit across functions', { concurrency: { limit: 1, scope: 'account', key: '"x"' } }],
    ['a computed key', { concurrency: { limit: 1, key: 'event.data.a + "x"' } }],
    ['a computed idempotency key', { idempotency: 'event.data.a + event.data.b' }],
    ['a condition it cannot read', { triggers: [{ event: 'a/b', if: 'event.data.n > 1' }] }],
    ['a pattern of event names', { triggers: [{ event: 'a/*' }] }],
    ['a cron with a time zone', { triggers: [{ cron: 'TZ=Europe/Paris 0 * * * *' }] }],
    ['a cancelOn it cannot read', { cancelOn: [{ event: 'a/c', if: 'async.data.n in [1]' }] }],
  ])('rejects %s', async (_, options) => {
    await expect(start(options)).rejects.toThrow(/^Functions this engine cannot run: app-f: /)
  })

  test('lists all rejected functions at once', async () => {
    const define = (client: Inngest) =>
      ['one', 'two'].map((id) =>
        client.createFunction(
          { id, triggers: [{ event: 'a/b' }], throttle: { limit: 1, period: '1s' } },
          async () => 1,
        ),
      )
    await expect(start({}, define)).rejects.toThrow(/app-one: .*; app-two: /)
  })

  test('an event sent before the start waits until the functions are known', async () => {
    const node = createNode(database.sql, (client) => [
      client.createFunction({ id: 'early', triggers: [{ event: 'a/early' }] }, async () => 'done'),
    ])
    await node.send('a/early')
    const queued = await database.sql`select owner from engine.jobs where function_id = 'app-early'`
    expect(queued).toMatchObject([{ owner: null }])
  })
})
