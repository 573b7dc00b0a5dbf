import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorld, ended, runsOf, until, type World } from './support'

describe('cancellation', () => {
  const done: string[] = []
  let endSlow = () => {}
  const slowMayEnd = new Promise<void>((resolve) => {
    endSlow = resolve
  })
  let endLate = () => {}
  const lateMayEnd = new Promise<void>((resolve) => {
    endLate = resolve
  })
  let world: World
  beforeAll(async () => {
    world = await createWorld((client) => [
      client.createFunction(
        {
          id: 'nap',
          triggers: [{ event: 'x/nap' }],
          cancelOn: [{ event: 'x/stop', match: 'data.key' }],
          onFailure: async () => void done.push('onFailure'),
        },
        async ({ event, step }) => {
          await step.sleep('nap', '1h')
          done.push(`woke ${event.data.key}`)
        },
      ),
      client.createFunction({ id: 'slow', triggers: [{ event: 'x/slow' }] }, async ({ event, step }) => {
        await step.run('slow', async () => {
          done.push(`begin ${event.data.key}`)
          await slowMayEnd
          done.push(`end ${event.data.key}`)
        })
        await step.run('next', () => done.push(`next ${event.data.key}`))
      }),
      client.createFunction({ id: 'parent', retries: 0, triggers: [{ event: 'x/parent' }] }, async ({ step }) => {
        const child = client.createFunction({ id: 'nap', triggers: [] }, async () => undefined)
        await step.invoke('call', { function: child, data: { key: 'child' } })
      }),
      client.createFunction({ id: 'heard', triggers: [{ event: 'inngest/function.cancelled' }] }, async ({ event }) => {
        done.push(`cancelled ${event.data.run_id}`)
      }),
      client.createFunction(
        { id: 'late', timeouts: { start: '1h' }, concurrency: { limit: 1 }, triggers: [{ event: 'x/late' }] },
        async ({ event, step }) => step.run('work', () => (event.data.first ? lateMayEnd : undefined)),
      ),
    ])
  })
  afterAll(() => world?.end())

  const remove = (runId: string) => world.engine.fetch(`http://embedded.invalid/v1/runs/${runId}`, { method: 'DELETE' })

  test('a matching event ends the run for good, another does not, and onFailure does not run', async () => {
    await world.send('x/nap', { key: 'a' })
    await until(async () => (await runsOf(world.sql, 'nap'))[0]?.pending === 1)
    await world.send('x/stop', { key: 'b' })
    expect(await runsOf(world.sql, 'nap')).toMatchObject([{ status: 'running' }])
    await world.send('x/stop', { key: 'a' })
    const [run] = await runsOf(world.sql, 'nap')
    expect(run?.status).toBe('cancelled')
    await until(() => done.includes(`cancelled ${run?.id}`))
    expect(done).not.toContain('onFailure')
    expect(await world.sql`select 1 from engine.jobs where run_id = ${run?.id ?? ''} and kind <> 'end'`).toEqual([])
  })

  test('a running step may finish, but its result is refused and no next step starts', async () => {
    await world.send('x/slow', { key: 's' })
    await until(() => done.includes('begin s'))
    const [run] = await runsOf(world.sql, 'slow')
    expect((await remove(run?.id ?? '')).status).toBe(204)
    endSlow()
    await until(() => done.includes('end s'))
    await sleep(150)
    expect(done).not.toContain('next s')
    expect(await world.sql`select 1 from engine.steps where run_id = ${run?.id ?? ''}`).toEqual([])
    expect(await runsOf(world.sql, 'slow')).toMatchObject([{ status: 'cancelled' }])
  })

  test('DELETE of an unknown run is 404, of an invalid id 400, and an ended run stays as it is', async () => {
    expect((await remove('01ARZ3NDEKTSV4RRFFQ69G5FAV')).status).toBe(404)
    expect((await remove('nonsense')).status).toBe(400)
    const [run] = await runsOf(world.sql, 'slow')
    expect((await remove(run?.id ?? '')).status).toBe(204)
    expect(done.filter((entry) => entry === `cancelled ${run?.id}`).length).toBeLessThanOrEqual(1)
  })

  test('the parent of a cancelled function fails with a reason', async () => {
    await world.send('x/parent')
    await until(async () => (await runsOf(world.sql, 'nap')).length === 2)
    await world.send('x/stop', { key: 'child' })
    const [run] = await ended(world.sql, 'parent')
    expect(run).toMatchObject({ status: 'failed', output: { message: expect.stringContaining('was cancelled') } })
  })

  test('a run that did not start within timeouts.start is cancelled; one that did is not', async () => {
    await world.send('x/late', { first: true })
    await until(async () => (await world.sql`select 1 from engine.runs where started_at is not null`).length > 0)
    await world.send('x/late')
    await world.sql`update engine.waits set expires_at = now() where kind = 'start'`
    world.engine.kick()
    await ended(world.sql, 'late')
    endLate()
    const runs = await ended(world.sql, 'late', 2)
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'cancelled'])
  })
})
