import { setTimeout as sleep } from 'node:timers/promises'
import type { Inngest, InngestFunction } from 'inngest'
import { expect, test } from 'vitest'
import { createWorld, until } from './support'

const toCancel = (n: number) => n % 4 === 0

/** All kinds of functions on three processes, with cancellations at random moments and one process that leaves. */
test('with any parallel work, no step runs twice and ended runs leave nothing', async () => {
  const ran = new Map<string, number>()
  const hit = (entry: string) => {
    ran.set(entry, (ran.get(entry) ?? 0) + 1)
    return ran.get(entry) ?? 0
  }
  const define = (client: Inngest): InngestFunction.Any[] => {
    const child = client.createFunction({ id: 'child', triggers: [{ event: 'x/child' }] }, async ({ event, step }) =>
      step.run('x', () => hit(`${event.data.key} child`)),
    )
    const mixed = client.createFunction(
      { id: 'mixed', retries: 1, triggers: [{ event: 'x/mixed' }], cancelOn: [{ event: 'x/stop', match: 'data.key' }] },
      async ({ event, step }) => {
        const { key } = event.data
        await step.run('before', () => hit(`${key} before`))
        const [found] = await Promise.all([
          step.waitForEvent('wait', { event: 'x/answer', timeout: '1h', match: 'data.key' }),
          step.sendEvent('answer', { name: 'x/answer', data: { key } }),
          step.run('quick', () => hit(`${key} quick`)),
          step.run('slow', () => sleep(Math.random() * 20).then(() => hit(`${key} slow`))),
          step.invoke('child', { function: child, data: { key } }),
        ])
        await step.run('flaky', () => {
          if (hit(`${key} flaky`) === 1) throw new Error('once')
        })
        // The runs to be cancelled must not end before, however late that is.
        await step.sleep('nap', toCancel(event.data.n) ? '1h' : '1s')
        return found !== null
      },
    )
    return [mixed, child]
  }

  const world = await createWorld(define, { slots: 16 })
  const nodes = [world, await world.another(define, { slots: 16 }), await world.another(define, { slots: 4 })]
  const some = (n: number) => nodes[n % 3] ?? world
  const keys = Array.from({ length: 80 }, (_, n) => n)
  await Promise.all(
    keys.map(async (n) => {
      await some(n).send('x/mixed', { key: `k${n}`, n })
      if (!toCancel(n)) return
      await sleep(Math.random() * 800)
      await some(n + 1).send('x/stop', { key: `k${n}` })
    }),
  )
  await some(2).engine.stop({ graceMs: 50 })
  await until(async () => (await world.sql`select 1 from engine.runs where status = 'running'`).length === 0, 240_000)
  await until(async () => (await world.sql`select 1 from engine.jobs`).length === 0)

  expect(await world.sql`select 1 from engine.waits`).toEqual([])
  const outcomes = await world.sql`
    select status, output, count(*)::int as n from engine.runs where function_id = 'app-mixed' group by 1, 2 order by 1`
  expect(outcomes).toEqual([
    { status: 'cancelled', output: 'null', n: 20 },
    { status: 'completed', output: 'true', n: 60 },
  ])
  // A process that leaves during a planned step hands it to another; only such a step may run again.
  const again = [...ran].filter(([entry, count]) => count > (entry.endsWith('flaky') ? 2 : 1))
  expect(again.length).toBeLessThanOrEqual(4)
  expect(nodes.flatMap(({ lines }) => lines).filter(({ level }) => level === 'error')).toEqual([])
  await world.end()
}, 300_000)
