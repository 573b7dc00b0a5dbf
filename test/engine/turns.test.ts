import type { Inngest, InngestFunction } from 'inngest'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createWorld, ended, runsOf, until, type World } from './support'

describe('turns', () => {
  let begun: string[]
  let gates: Map<string, () => void>
  let closed: Map<string, Promise<void>>
  let world: World | undefined

  beforeEach(() => {
    begun = []
    gates = new Map()
    closed = new Map()
  })
  afterEach(async () => {
    for (const open of gates.values()) open()
    await world?.end()
  })

  /** From now on, jobs of these keys do not end until their gates are opened. */
  function close(...keys: string[]): void {
    for (const key of keys) {
      closed.set(key, new Promise((resolve) => gates.set(key, resolve)))
    }
  }

  const functions =
    (limit: number | null) =>
    (client: Inngest): InngestFunction.Any[] => [
      client.createFunction(
        {
          id: 'keyed',
          retries: 0,
          triggers: [{ event: 't/keyed' }],
          ...(limit === null ? {} : { concurrency: [{ key: 'event.data.key', limit }] }),
        },
        async ({ event, step }) => {
          await step.run('work', async () => {
            begun.push(event.data.key)
            await closed.get(event.data.key)
          })
        },
      ),
      client.createFunction({ id: 'sweep', concurrency: 1, triggers: [{ event: 't/sweep' }] }, async ({ step }) =>
        step.run('work', () => 1),
      ),
      client.createFunction({ id: 'plain', triggers: [{ event: 't/plain' }] }, async ({ step }) =>
        step.run('work', () => 1),
      ),
    ]
  const send = (to: World, key: string, count: number) =>
    to.client.send(Array.from({ length: count }, () => ({ name: 't/keyed', data: { key } })))
  const begunOf = (key: string) => begun.filter((one) => one === key).length

  test('while 200 slow jobs of one key are queued, another key and functions without one continue', async () => {
    world = await createWorld(functions(100), { slots: 16 })
    close('hog')
    await send(world, 'hog', 200)
    await until(() => begunOf('hog') >= 7)
    await send(world, 'other', 1)
    await Promise.all([world.send('t/sweep'), world.send('t/plain')])
    await Promise.all([ended(world.sql, 'keyed'), ended(world.sql, 'sweep'), ended(world.sql, 'plain')])
    // Two of 16 slots are reserved; of the other 14 it took no more than it left.
    expect(begunOf('hog')).toBe(7)
    gates.get('hog')?.()
    await ended(world.sql, 'keyed', 201, 60_000)
  })

  test('several busy keys leave room for one more', async () => {
    world = await createWorld(functions(100), { slots: 24 })
    const hogs = ['a', 'b', 'c', 'd']
    close(...hogs)
    for (const hog of hogs) await send(world, hog, 40)
    await until(() => hogs.every((hog) => begunOf(hog) >= 1))
    await send(world, 'other', 1)
    await Promise.all([world.send('t/sweep'), world.send('t/plain')])
    await Promise.all([ended(world.sql, 'keyed'), ended(world.sql, 'sweep'), ended(world.sql, 'plain')])
    expect(hogs.every((hog) => begunOf(hog) < 40)).toBe(true)
  })

  test('keys that wait for the same place take turns, however long the queue of one is', async () => {
    world = await createWorld(functions(100), { slots: 1 })
    close('a')
    await send(world, 'a', 5)
    await until(() => begunOf('a') === 1)
    await send(world, 'b', 3)
    gates.get('a')?.()
    await ended(world.sql, 'keyed', 8)
    expect(begun.join('')).toBe('abababaa')
  })

  test('jobs queued under a limit still run when their function no longer has one', async () => {
    world = await createWorld(functions(1), { slots: 4 })
    close('x')
    await send(world, 'x', 3)
    await until(() => begunOf('x') === 1)
    await world.engine.stop({ graceMs: 0 })
    await world.another(functions(null), { slots: 4 })
    gates.get('x')?.()
    await ended(world.sql, 'keyed', 3)
    expect((await runsOf(world.sql, 'keyed')).map(({ status }) => status)).toEqual(Array(3).fill('completed'))
  })
})
