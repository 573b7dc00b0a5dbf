import type { Inngest, InngestFunction } from 'inngest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, ended, runsOf, until, type World } from './support'

describe('cron', () => {
  let now = new Date('2026-01-01T00:00:30Z')
  let world: World
  const define = (client: Inngest): InngestFunction.Any[] => [
    client.createFunction({ id: 'tick', triggers: [{ cron: '*/5 * * * *' }] }, async ({ event }) => event.data),
  ]
  beforeAll(async () => {
    world = await createWorld(define, { now: () => now })
    await world.another(define, { now: () => now })
  })
  afterAll(() => world?.end())

  const dueAt = async () => (await world.sql`select due_at from engine.jobs where kind = 'cron'`)[0]?.due_at

  test('the first tick is the next one, and two processes start one run for it', async () => {
    expect(await dueAt()).toEqual(new Date('2026-01-01T00:05:00Z'))
    expect(await runsOf(world.sql, 'tick')).toEqual([])
    now = new Date('2026-01-01T00:05:01Z')
    world.engine.kick()
    expect(await ended(world.sql, 'tick')).toMatchObject([{ status: 'completed', output: { cron: '*/5 * * * *' } }])
    await until(async () => (await dueAt())?.getTime() === Date.UTC(2026, 0, 1, 0, 10))
  })

  test('ticks missed during downtime start one run, and the next tick is in the future', async () => {
    now = new Date('2026-01-01T03:02:00Z')
    world.engine.kick()
    await ended(world.sql, 'tick', 2)
    await until(async () => (await dueAt())?.getTime() === Date.UTC(2026, 0, 1, 3, 5))
    world.engine.kick()
    expect(await runsOf(world.sql, 'tick')).toHaveLength(2)
  })

  test('a removed cron is forgotten at the next start', async () => {
    await world.another(
      (client) => [client.createFunction({ id: 'tick', triggers: [{ cron: '0 4 * * *' }] }, async () => undefined)],
      { now: () => now },
    )
    expect(await world.sql`select id from engine.jobs where kind = 'cron'`).toEqual([{ id: 'cron:app-tick:0 4 * * *' }])
  })
})
