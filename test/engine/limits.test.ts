import { setTimeout as sleep } from 'node:timers/promises'
import type { Inngest, InngestFunction } from 'inngest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, ended, runsOf, type World } from './support'

describe.concurrent('limits', () => {
  let world: World
  let second: World | undefined
  let openFull = () => {}
  const fullMayEnd = new Promise<void>((resolve) => {
    openFull = resolve
  })
  const running = new Map<string, number>()
  const most = new Map<string, number>()

  async function work(lane: string, ms = 40): Promise<void> {
    const now = (running.get(lane) ?? 0) + 1
    running.set(lane, now)
    most.set(lane, Math.max(now, most.get(lane) ?? 0))
    await sleep(ms)
    running.set(lane, (running.get(lane) ?? 1) - 1)
  }

  const define = (client: Inngest): InngestFunction.Any[] => [
    client.createFunction({ id: 'two', concurrency: 2, triggers: [{ event: 'm/two' }] }, async ({ step }) => {
      await step.run('a', () => work('two'))
      await step.sleep('nap', '1s')
      await step.run('b', () => work('two'))
    }),
    client.createFunction(
      { id: 'keyed', concurrency: { limit: 1, key: 'event.data.key' }, triggers: [{ event: 'm/keyed' }] },
      async ({ event, step }) => {
        await step.run('a', () => work(`key ${event.data.key}`))
      },
    ),
    client.createFunction({ id: 'full', concurrency: 1, triggers: [{ event: 'm/full' }] }, async ({ step }) => {
      await step.run('a', () => fullMayEnd)
    }),
    client.createFunction({ id: 'wide', concurrency: 2, triggers: [{ event: 'm/wide' }] }, async ({ step }) => {
      await Promise.all([1, 2, 3, 4, 5].map((n) => step.run(`part ${n}`, () => work('wide'))))
    }),
    client.createFunction({ id: 'large', retries: 0, triggers: [{ event: 'm/large' }] }, async ({ step }) => {
      await step.run('large', () => 'x'.repeat(5 * 1024 * 1024))
    }),
    client.createFunction({ id: 'gateway', retries: 3, triggers: [{ event: 'm/gateway' }] }, async ({ step }) => {
      await step.fetch('http://embedded.invalid/')
    }),
    client.createFunction({ id: 'free', triggers: [{ event: 'm/free' }] }, async ({ step }) => step.run('a', () => 1)),
  ]

  beforeAll(async () => {
    world = await createWorld(define, { slots: 16 })
    await world.another(define, { slots: 16 })
  })
  afterAll(async () => {
    await second?.end()
    await world?.end()
  })

  test('a function’s limit covers all processes; sleeping runs do not count', async () => {
    await Promise.all(Array.from({ length: 10 }, () => world.send('m/two')))
    await ended(world.sql, 'two', 10)
    expect(most.get('two')).toBe(2)
  })

  test('a limit with a key applies to each value separately', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, n) => world.send('m/keyed', { key: n % 3 })))
    const runs = await ended(world.sql, 'keyed', 12)
    expect(runs.every(({ status }) => status === 'completed')).toBe(true)
    expect([most.get('key 0'), most.get('key 1'), most.get('key 2')]).toEqual([1, 1, 1])
  })

  test('parallel steps of one run count towards the limit of its function', async () => {
    await world.send('m/wide')
    await ended(world.sql, 'wide')
    expect(most.get('wide')).toBe(2)
  })

  test('a full lane does not delay other functions', async () => {
    await Promise.all(Array.from({ length: 10 }, () => world.send('m/full')))
    await world.send('m/free')
    await ended(world.sql, 'free')
    expect((await runsOf(world.sql, 'full')).every(({ status }) => status === 'running')).toBe(true)
    openFull()
    await ended(world.sql, 'full', 10)
  })

  test('too large a result fails its run with a reason instead of being retried forever', async () => {
    await world.send('m/large')
    const [run] = await ended(world.sql, 'large')
    expect(run).toMatchObject({ status: 'failed', output: { message: expect.stringContaining('4 MB') } })
  })

  test('an unsupported operation fails its run at once, by name', async () => {
    await world.send('m/gateway')
    const [run] = await ended(world.sql, 'gateway')
    expect(run).toMatchObject({ status: 'failed', output: { message: expect.stringContaining('operation Gateway') } })
  })

  test('an idle engine makes less than one transaction in two seconds', async () => {
    second = await createWorld(define)
    const { sql } = second
    await sql`select 1`
    await sleep(500)
    const count = async () => {
      await sql`select pg_stat_force_next_flush()`
      const [row] = await sql<{ n: number }[]>`
        select xact_commit::int as n from pg_stat_database where datname = current_database()`
      return row?.n ?? 0
    }
    const inFiveSeconds = async () => {
      const before = await count()
      await sleep(5200)
      // Subtract the test's own statements: two of the first count and two of the second.
      return (await count()) - before - 2
    }
    // On a busy machine other sessions of the server add transactions to a measurement, but not to all of them.
    const looks = [await inFiveSeconds()]
    while (looks.length < 8 && (looks.at(-1) ?? 0) > 2) looks.push(await inFiveSeconds())
    expect(Math.min(...looks)).toBeLessThanOrEqual(2)
  })
})
