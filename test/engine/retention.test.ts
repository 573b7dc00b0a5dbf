import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EngineContext } from '@/inngest/engine/context'
import { readHeartbeatAge } from '@/inngest/engine/health'
import { sweepOld } from '@/inngest/engine/retention'
import { createWorld, ended, runsOf, type World } from './support'

describe('retention', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld((client) => [
      client.createFunction({ id: 'short', triggers: [{ event: 'o/short' }] }, async ({ step }) =>
        step.run('a', () => 1),
      ),
      client.createFunction({ id: 'open', triggers: [{ event: 'o/open' }] }, async ({ step }) => {
        await step.run('a', () => 1)
        await step.sleep('nap', '300d')
      }),
    ])
  })
  afterAll(() => world?.end())

  test('ended runs are deleted after their time with their results and ids; open runs stay, however old', async () => {
    await world.send('o/short')
    await ended(world.sql, 'short')
    await world.send('o/open')
    await world.sql`update engine.runs set created_at = created_at - interval '3 days', ended_at = ended_at - interval '3 days'`
    await world.sql`update engine.events set received_at = received_at - interval '3 days'`
    await world.send('o/short')
    await ended(world.sql, 'short', 2)
    const { sql } = world
    const ctx = { sql, at: () => sql`now()`, bootId: randomUUID() } as unknown as EngineContext
    await sweepOld(ctx, 2 * 86_400_000)
    expect(await runsOf(sql, 'short')).toHaveLength(1)
    expect(await runsOf(sql, 'open')).toMatchObject([{ status: 'running' }])
    expect((await sql`select distinct run_id from engine.steps`).length).toBe(2)
    expect(await sql`select 1 from engine.events`).toHaveLength(1)
  })

  test('everything old is deleted at once, however much there is', async () => {
    const { sql } = world
    await sql`
      insert into engine.runs (id, function_id, event, status, created_at, ended_at)
      select 'old' || n, 'app-old', '{}', 'completed', now() - interval '9 days', now() - interval '9 days'
      from generate_series(1, 1200) n`
    await sql`
      insert into engine.events (scope, id, received_at)
      select '', 'old' || n, now() - interval '9 days' from generate_series(1, 4500) n`
    await sweepOld({ sql, at: () => sql`now()`, bootId: randomUUID() } as unknown as EngineContext, 2 * 86_400_000)
    expect(await sql`select 1 from engine.runs where id like 'old%'`).toHaveLength(0)
    expect(await sql`select 1 from engine.events where id like 'old%'`).toHaveLength(0)
  })

  test('the engine’s health can be read without an engine', async () => {
    expect(await readHeartbeatAge(world.sql)).toBeLessThan(60_000)
    await world.engine.stop({ graceMs: 100 })
    expect(await readHeartbeatAge(world.sql)).toBeNull()
  })
})
