import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NEVER_LOOKS } from './node'
import { createWorld, ended, until, type World } from './support'

describe('runs', () => {
  const done: string[] = []
  let world: World
  beforeAll(async () => {
    world = await createWorld(
      (client) => [
        client.createFunction({ id: 'five', triggers: [{ event: 'go/five' }] }, async ({ event, step }) => {
          let sum = 0
          for (let i = 1; i <= 5; i++) {
            sum += await step.run(`s${i}`, () => {
              done.push(`${event.data.tag}:s${i}`)
              return i
            })
          }
          return { sum }
        }),
        client.createFunction(
          { id: 'plain', triggers: [{ event: 'go/five' }], checkpointing: false },
          async ({ step }) => {
            const a = await step.run('a', () => 20)
            const b = await step.run('b', () => 22)
            return a + b
          },
        ),
        client.createFunction({ id: 'parallel', triggers: [{ event: 'go/parallel' }] }, async ({ step }) => {
          const first = await step.run('first', () => 1)
          const parts = await Promise.all([2, 3, 4].map((n) => step.run(`part-${n}`, () => n * 10)))
          return parts.reduce((a, b) => a + b, first)
        }),
        client.createFunction({ id: 'nap', triggers: [{ event: 'go/nap' }] }, async ({ step }) => {
          const before = await step.run('before', () => 'b')
          await step.sleep('nap', '1s')
          return before + (await step.run('after', () => 'a'))
        }),
        client.createFunction({ id: 'child', triggers: [{ event: 'go/child' }] }, async ({ event, step }) =>
          step.run('double', () => Number(event.data.n) * 2),
        ),
        client.createFunction({ id: 'parent', triggers: [{ event: 'go/parent' }] }, async ({ step }) => {
          const child = client.createFunction({ id: 'child', triggers: [{ event: 'x' }] }, async () => 0)
          return await step.invoke('call', { function: child, data: { n: 21 } })
        }),
      ],
      NEVER_LOOKS,
    )
  })
  afterAll(() => world?.end())

  test('five steps in a row run once each, in one call, and return the result', async () => {
    await world.send('go/five', { tag: 'x' })
    const [run] = await ended(world.sql, 'five')
    expect(run).toMatchObject({ status: 'completed', output: { sum: 15 } })
    expect(done.filter((step) => step.startsWith('x:'))).toEqual(['x:s1', 'x:s2', 'x:s3', 'x:s4', 'x:s5'])
    expect(world.calls.filter(({ call }) => call.url.includes('app-five'))).toHaveLength(1)
  })

  test('without checkpoints, the same takes one call per step and returns the same result', async () => {
    const [run] = await ended(world.sql, 'plain')
    expect(run).toMatchObject({ status: 'completed', output: 42 })
  })

  test('the function waits for all its parallel steps', async () => {
    await world.send('go/parallel')
    const [run] = await ended(world.sql, 'parallel')
    expect(run).toMatchObject({ status: 'completed', output: 91, pending: 0 })
  })

  test('a sleep uses no memory and ends on time', async () => {
    const from = Date.now()
    await world.send('go/nap')
    const [run] = await ended(world.sql, 'nap')
    expect(run).toMatchObject({ status: 'completed', output: 'ba' })
    expect(Date.now() - from).toBeGreaterThanOrEqual(1000)
  })

  test('an invoked function returns its result to its parent', async () => {
    await world.send('go/parent')
    const [run] = await ended(world.sql, 'parent')
    expect(run).toMatchObject({ status: 'completed', output: 42 })
  })

  test('ended runs leave no jobs and no waits', async () => {
    await until(async () => {
      const [row] =
        await world.sql`select (select count(*) from engine.jobs)::int as jobs, (select count(*) from engine.waits)::int as waits`
      return row?.jobs === 0 && row.waits === 0
    })
  })
})
