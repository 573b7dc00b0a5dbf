import { NonRetriableError, RetryAfterError } from 'inngest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NEVER_LOOKS } from './node'
import { createWorld, ended, runsOf, until, type World } from './support'

describe('retries', () => {
  const done: string[] = []
  const times: number[] = []
  let world: World
  beforeAll(async () => {
    world = await createWorld(
      (client) => [
        client.createFunction(
          { id: 'flaky', retries: 3, triggers: [{ event: 'r/flaky' }] },
          async ({ step, attempt }) => {
            await step.run('fine', () => done.push('fine'))
            await step.run('flaky', () => {
              done.push(`flaky ${attempt}`)
              if (done.filter((entry) => entry.startsWith('flaky')).length < 3) throw new Error('again')
            })
            return await step.run('next', () => {
              done.push(`next ${attempt}`)
              return 'end'
            })
          },
        ),
        client.createFunction({ id: 'each', retries: 1, triggers: [{ event: 'r/each' }] }, async ({ step }) => {
          for (const name of ['a', 'b', 'c']) {
            await step.run(name, () => {
              done.push(`each ${name}`)
              if (done.filter((entry) => entry === `each ${name}`).length < 2) throw new Error('once')
            })
          }
        }),
        client.createFunction(
          {
            id: 'doomed',
            retries: 2,
            triggers: [{ event: 'r/doomed' }],
            onFailure: async ({ event, error, step }) => {
              await step.run('tell', () => done.push(`told ${event.data.function_id} ${error.message}`))
            },
          },
          async ({ step }) => {
            await step.run('bad', () => {
              done.push('doomed')
              throw new Error('always')
            })
          },
        ),
        client.createFunction(
          { id: 'final', retries: 5, triggers: [{ event: 'r/final' }] },
          async ({ event, step }) => {
            done.push(`final ${event.data.where}`)
            if (event.data.where === 'body') throw new NonRetriableError('no')
            await step.run('bad', () => {
              throw new NonRetriableError('no')
            })
          },
        ),
        client.createFunction(
          { id: 'later', retries: 1, triggers: [{ event: 'r/later' }] },
          async ({ event, step }) => {
            const again = () => {
              times.push(Date.now())
              if (times.length % 2 === 1) throw new RetryAfterError('later', 1000)
            }
            if (event.data.where === 'body') again()
            else await step.run('step', again)
          },
        ),
        client.createFunction({ id: 'side', retries: 2, triggers: [{ event: 'r/side' }] }, async ({ step }) => {
          const parts = await Promise.all([
            step.run('good', () => {
              done.push('good')
              return 1
            }),
            step.run('bad', () => {
              done.push('bad')
              if (done.filter((entry) => entry === 'bad').length < 3) throw new Error('again')
              return 2
            }),
            step.run('never', () => Promise.reject(new Error('never'))).catch(() => 4),
          ])
          return parts.reduce((a, b) => a + b)
        }),
      ],
      NEVER_LOOKS,
    )
  })
  afterAll(() => world?.end())

  test('only the failing step is retried, with its attempt counted, and later steps start at zero', async () => {
    await world.send('r/flaky')
    expect(await ended(world.sql, 'flaky')).toMatchObject([{ status: 'completed', output: 'end' }])
    expect(done.filter((entry) => /fine|flaky|next/.test(entry))).toEqual([
      'fine',
      'flaky 0',
      'flaky 1',
      'flaky 2',
      'next 0',
    ])
  })

  test('every step has its own full number of attempts', async () => {
    await world.send('r/each')
    expect(await ended(world.sql, 'each')).toMatchObject([{ status: 'completed' }])
  })

  test('a run fails when a step’s attempts are used up, and onFailure runs once', async () => {
    await world.send('r/doomed')
    await until(() => done.some((entry) => entry.startsWith('told')))
    expect(await runsOf(world.sql, 'doomed')).toMatchObject([{ status: 'failed', output: { message: 'always' } }])
    expect(done.filter((entry) => entry === 'doomed')).toHaveLength(3)
    expect(await ended(world.sql, 'doomed-failure')).toMatchObject([{ status: 'completed' }])
    expect(done.filter((entry) => entry.startsWith('told'))).toEqual(['told app-doomed always'])
  })

  test('a NonRetriableError ends the run at once, both inside and outside steps', async () => {
    await world.send('r/final', { where: 'body' })
    expect(await ended(world.sql, 'final')).toMatchObject([{ status: 'failed' }])
    await world.send('r/final', { where: 'step' })
    const runs = await ended(world.sql, 'final', 2)
    expect(runs.map(({ status }) => status)).toEqual(['failed', 'failed'])
    expect(done.filter((entry) => entry === 'final body')).toHaveLength(1)
  })

  test.each(['step', 'body'])('the delay a RetryAfterError asks for in a %s is kept', async (where) => {
    const before = times.length
    await world.send('r/later', { where })
    const [first = 0, second = 0] = await until(() => times.length === before + 2 && times.slice(before))
    expect(second - first).toBeGreaterThanOrEqual(1000)
  })

  test('of parallel steps only the failing one is repeated, and the others wait for it', async () => {
    await world.send('r/side')
    expect(await ended(world.sql, 'side')).toMatchObject([{ status: 'completed', output: 7 }])
    expect(done.filter((entry) => entry === 'good')).toHaveLength(1)
    expect(done.filter((entry) => entry === 'bad')).toHaveLength(3)
  })
})
