import { setTimeout as sleep } from 'node:timers/promises'
import type { Inngest, InngestFunction } from 'inngest'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { asAdmin } from '@/db/postgres/probe'
import { NEVER_LOOKS } from './node'
import { createWorld, ended, runsOf, until, type World } from './support'

describe('leases', () => {
  let done: string[] = []
  let gates: Map<string, () => void>
  let world: World

  /** Functions that record the process in which they ran. */
  const functions =
    (node: string) =>
    (client: Inngest): InngestFunction.Any[] => [
      client.createFunction({ id: 'gated', triggers: [{ event: 'l/gated' }] }, async ({ step }) => {
        await step.run('first', () => void done.push(`${node} first`))
        await step.run('gate', async () => {
          done.push(`${node} gate`)
          if (node === 'A') await new Promise<void>((resolve) => gates.set(node, resolve))
          return node
        })
        return await step.run('last', () => {
          done.push(`${node} last`)
          return node
        })
      }),
      client.createFunction({ id: 'ten', triggers: [{ event: 'l/ten' }] }, async ({ event, step }) => {
        for (let n = 0; n < 10; n++) {
          await step.run(`s${n}`, async () => {
            done.push(`${event.data.tag} s${n}`)
            if (event.data.ms) await sleep(event.data.ms)
            if (event.data.gateAt === n) await new Promise<void>((resolve) => gates.set(`s${n}`, resolve))
          })
        }
        return node
      }),
    ]
  const start = async (options = {}) => {
    world = await createWorld(functions('A'), options)
  }
  beforeEach(() => {
    done = []
    gates = new Map()
  })
  afterEach(async () => {
    for (const open of gates.values()) open()
    await world?.end()
  })

  test('a process that lost its lease writes nothing more and starts no further step', async () => {
    await start()
    await world.send('l/gated')
    await until(() => gates.has('A'))
    await world.sql`update engine.jobs set owner = 'gone', due_at = now() - interval '1 second'`
    await world.another(functions('B'))
    expect(await ended(world.sql, 'gated')).toMatchObject([{ status: 'completed', output: 'B' }])
    gates.get('A')?.()
    await sleep(100)
    expect(done).toEqual(['A first', 'A gate', 'B gate', 'B last'])
  })

  test('a heartbeat keeps the lease while a step runs', async () => {
    // The clock advances only after a heartbeat has renewed the lease, so that no slow machine can lose it.
    let now = Date.now()
    const options = { leaseMs: 300, now: () => new Date(now) }
    await start(options)
    await world.another(functions('B'), options)
    await world.send('l/gated')
    await until(() => gates.has('A'))
    for (let beats = 0; beats < 5; beats++) {
      now += 200
      const renewed = new Date(now + 300)
      await until(async () => (await world.sql`select 1 from engine.jobs where due_at = ${renewed}`).length === 1)
    }
    gates.get('A')?.()
    await ended(world.sql, 'gated')
    expect(done.filter((entry) => entry.endsWith('gate'))).toEqual(['A gate'])
  })

  test('claims of a dead process on this host are taken over at once, those of other hosts when their lease expires', async () => {
    await start()
    await world.send('l/ten', { tag: 'mine' })
    await ended(world.sql, 'ten')
    await world.engine.stop({ graceMs: 100 })
    for (const [boot, host] of [
      ['dead', 'host'],
      ['far', 'elsewhere'],
    ]) {
      const { engine } = world
      await engine.fetch('http://embedded.invalid/e/x', {
        method: 'POST',
        body: JSON.stringify([{ name: 'l/ten', data: { tag: boot } }]),
      })
      await world.sql`
        insert into engine.workers values (${boot ?? ''}, ${host ?? ''}, 4194303, now(), now())`
      await world.sql`update engine.jobs set owner = ${boot ?? ''}, due_at = now() + interval '1 hour' where owner is null`
    }
    const other = await world.another(functions('B'), NEVER_LOOKS)
    await ended(world.sql, 'ten', 2)
    await sleep(100)
    expect(done.filter((entry) => entry.startsWith('far'))).toEqual([])
    await world.sql`update engine.jobs set due_at = now()`
    other.engine.kick()
    await ended(world.sql, 'ten', 3)
  })

  test('a call that was lost five times without progress is not repeated: its run fails', async () => {
    await start()
    await world.send('l/gated')
    await until(() => gates.has('A'))
    await world.sql`update engine.jobs set owner = 'gone', deliveries = 4, due_at = now() - interval '1 second'`
    world.engine.kick()
    const [run] = await ended(world.sql, 'gated')
    expect(run).toMatchObject({ status: 'failed', output: { name: 'WorkerLost' } })
  })

  test('progress resets the count of deliveries', async () => {
    await start()
    await world.send('l/gated')
    await until(() => gates.has('A'))
    expect(await world.sql`select deliveries from engine.jobs`).toEqual([{ deliveries: 0 }])
  })

  test('a stopping process releases work that does not end in time, and another continues it at once', async () => {
    await start(NEVER_LOOKS)
    await world.another(functions('B'), NEVER_LOOKS)
    await world.send('l/gated')
    await until(() => gates.has('A') || done.includes('B gate'))
    if (gates.has('A')) await world.engine.stop({ graceMs: 50 })
    expect(await ended(world.sql, 'gated')).toMatchObject([{ status: 'completed', output: 'B' }])
    expect(done.filter((entry) => entry.endsWith('last'))).toEqual(['B last'])
  })

  test('a stopping process finishes its current step, and the next one runs elsewhere: none runs twice', async () => {
    await start()
    await world.send('l/ten', { tag: 'x', gateAt: 2 })
    await until(() => gates.has('s2'))
    let over = false
    const stopped = world.engine.stop({ graceMs: 60_000 }).then(() => {
      over = true
    })
    // Long enough to give up the step.
    await sleep(200)
    expect(over).toBe(false)
    gates.get('s2')?.()
    await stopped
    expect(done).toEqual(['x s0', 'x s1', 'x s2'])
    await world.another(functions('B'))
    expect(await ended(world.sql, 'ten')).toMatchObject([{ status: 'completed', output: 'B' }])
    expect(done).toEqual(Array.from({ length: 10 }, (_, n) => `x s${n}`))
  })

  test('two processes share the work and repeat nothing', async () => {
    await start({ slots: 4 })
    const other = await world.another(functions('B'), { slots: 4 })
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 ? world : other).send('l/ten', { tag: `run ${n}`, ms: 1 })),
    )
    const runs = await ended(world.sql, 'ten', 40)
    expect(new Set(runs.map(({ output }) => output))).toEqual(new Set(['A', 'B']))
    expect(done).toHaveLength(400)
    expect(new Set(done).size).toBe(400)
  })

  test('the sweep finds work that nobody announced', async () => {
    await start({ leaseMs: 900 })
    await world.send('l/ten', { tag: 'x' })
    await ended(world.sql, 'ten')
    await world.sql`
      with r as (
        insert into engine.runs (id, function_id, event, created_at)
        select 'silent', function_id, event, now() from engine.runs returning id, function_id)
      insert into engine.jobs (id, run_id, function_id, kind, due_at) select id, id, function_id, 'run', now() from r`
    await ended(world.sql, 'ten', 2)
  })

  test('nothing is lost while the database is away, and the run continues when it is back', async () => {
    await start()
    const { adminUrl } = inject('testServer')
    const [{ name } = { name: '' }] = await world.sql<{ name: string }[]>`select current_database() as name`
    await world.send('l/ten', { tag: 'x', ms: 60 })
    await until(() => done.length >= 3)
    await asAdmin(adminUrl, async (admin) => {
      await admin.unsafe(`alter database ${name} with allow_connections false`)
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
    })
    await sleep(1000)
    await asAdmin(adminUrl, (admin) => admin.unsafe(`alter database ${name} with allow_connections true`))
    const [run] = await until(async () => {
      try {
        const runs = await runsOf(world.sql, 'ten')
        return runs[0]?.status === 'completed' && runs
      } catch {
        return undefined
      }
    })
    expect(run).toMatchObject({ status: 'completed' })
    expect(new Set(done).size).toBe(10)
    // The step whose checkpoint was interrupted may have been stored or not; no other step may repeat.
    expect(done.length).toBeLessThanOrEqual(11)
    await world.send('l/ten', { tag: 'after' })
    await ended(world.sql, 'ten', 2)
  })
})
