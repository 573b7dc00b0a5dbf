import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Inngest, RetryAfterError } from 'inngest'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { EngineOptions, Queued } from '@/inngest/engine/index'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { createNode, NEVER_LOOKS, type Node } from './node'
import { ended, runsOf, until } from './support'

// Runs whose handlers the engine calls itself. A queued run has no row until it needs one.

let database: FreshDatabase
const nodes: Node[] = []
/** The executions, in order. */
let seen: string[] = []
let hold: Promise<void> | undefined

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
})
afterEach(async () => {
  hold = undefined
  for (const node of nodes.splice(0)) await node.engine.stop({ graceMs: 2_000 })
  await database.sql`truncate engine.runs, engine.steps, engine.jobs, engine.waits, engine.events, engine.workers`
  seen = []
})
afterAll(() => database.close())

const functions = (client: Inngest) => [
  client.createFunction(
    {
      id: 'chain',
      triggers: [{ event: 'n/chain' }],
      concurrency: [{ key: 'event.data.tenant', limit: 3 }],
      cancelOn: [{ event: 'n/cancel', if: 'event.data.tag == async.data.tag' }],
    },
    async ({ event, step, attempt, runId }) => {
      const { tag, wait, fails } = event.data
      await step.run('a', () => void seen.push(`${tag} a ${runId}`))
      if (wait) {
        const found = await step.waitForEvent('wait', {
          event: 'n/answer',
          timeout: '1h',
          if: 'event.data.tag == async.data.tag',
        })
        await step.run('found', () => void seen.push(`${tag} found ${found?.data.value}`))
      }
      await step.run('b', async () => {
        seen.push(`${tag} b`)
        await hold
        if (fails && attempt === 0) throw new RetryAfterError('not yet', 1_000)
      })
      await step.run('c', () => void seen.push(`${tag} c`))
      return tag
    },
  ),
]

async function node(options: Partial<EngineOptions> = {}): Promise<Node> {
  const one = createNode(database.sql, functions, { handlers: new Map(), ...options })
  nodes.push(one)
  await one.engine.start()
  return one
}

function prepare({ engine }: Node, tag: string, data: object = {}): Queued {
  const queued = engine.queue({ id: randomUUID(), name: 'n/chain', data: { tag, tenant: 'one', ...data } })
  if (!queued) throw new Error('cannot be queued')
  return queued
}

/** Inserts a prepared job, as the product does. */
async function insert({ job, committed }: Queued): Promise<string> {
  const [row] = await database.sql<{ generation: string }[]>`
    insert into engine.jobs (id, run_id, function_id, kind, lane, event, owner, due_at, generation)
    values (${job.id}, ${job.id}, ${job.functionId}, 'run', ${job.lane}, ${job.event}, ${job.owner},
      now() + ${job.leaseMs}::float8 * interval '1 millisecond', nextval('engine.generation'))
    returning generation::text`
  committed(row?.generation ?? null)
  return job.id
}

const enqueue = (on: Node, tag: string, data: object = {}) => insert(prepare(on, tag, data))
const steps = (tag: string) => seen.filter((entry) => entry.startsWith(`${tag} `)).map((entry) => entry.split(' ')[1])
const jobs = () => database.sql`select id, event, owner, deliveries from engine.jobs where kind <> 'cron'`
const gone = () => until(async () => (await jobs()).length === 0)

describe('a queued run', () => {
  test('that only runs steps leaves nothing behind, and never meets the SDK', async () => {
    const one = await node()
    const calls = one.calls.length
    const id = await enqueue(one, 'plain')
    await gone()
    expect(seen).toEqual([`plain a ${id}`, 'plain b', 'plain c'])
    expect(await runsOf(database.sql, 'chain')).toEqual([])
    expect(await database.sql`select 1 from engine.steps union all select 1 from engine.events`).toEqual([])
    expect(one.calls.length).toBe(calls)
  })

  test('that waits gets a row with the results so far, under the same id, and its steps do not repeat', async () => {
    const one = await node()
    const id = await enqueue(one, 'waits', { wait: true })
    await until(async () => (await database.sql`select 1 from engine.waits where kind = 'event'`).length === 1)
    expect(await runsOf(database.sql, 'chain')).toMatchObject([{ id, status: 'running', pending: 1 }])
    await one.send('n/answer', { tag: 'waits', value: 7 })
    await ended(database.sql, 'chain')
    expect(seen).toEqual([`waits a ${id}`, 'waits found 7', 'waits b', 'waits c'])
  })

  test('that waits can be cancelled by the event of its function', async () => {
    const one = await node()
    await enqueue(one, 'ends', { wait: true })
    await until(async () => (await database.sql`select 1 from engine.waits where kind = 'event'`).length === 1)
    await one.send('n/cancel', { tag: 'ends' })
    expect(await ended(database.sql, 'chain')).toMatchObject([{ status: 'cancelled' }])
  })

  test('whose step fails is tried again when the step asks for it, without the steps before', async () => {
    const one = await node()
    const from = Date.now()
    await enqueue(one, 'fails', { fails: true })
    expect(await ended(database.sql, 'chain')).toMatchObject([{ status: 'completed', output: 'fails' }])
    expect(steps('fails')).toEqual(['a', 'b', 'b', 'c'])
    expect(Date.now() - from).toBeGreaterThanOrEqual(1_000)
  })

  test('of a process that stops continues in another one after its step, and no step repeats', async () => {
    let release = () => {}
    hold = new Promise((resolve) => {
      release = resolve
    })
    const one = await node()
    await enqueue(one, 'moves')
    await until(() => steps('moves').includes('b'))
    const stopped = one.engine.stop({ graceMs: 10_000 })
    await sleep(50)
    release()
    await stopped
    expect(steps('moves')).toEqual(['a', 'b'])
    expect(await jobs()).toMatchObject([{ owner: null, deliveries: 0, event: null }])
    await node()
    await ended(database.sql, 'chain')
    expect(steps('moves')).toEqual(['a', 'b', 'c'])
  })

  test('of a process that died is taken over and counted, and set aside like any other when it dies with five', async () => {
    const one = await node({ slots: 0 })
    const id = await enqueue(one, 'lost')
    await database.sql`update engine.jobs set owner = 'gone', due_at = now() - interval '1 second'`
    const other = await node()
    expect(await ended(database.sql, 'chain')).toMatchObject([{ id, status: 'completed' }])
    expect(steps('lost')).toEqual(['a', 'b', 'c'])
    expect(other.calls.length).toBeGreaterThan(1)

    const { job } = prepare(one, 'deadly')
    const deadly = job.id
    await database.sql`
      insert into engine.jobs (id, run_id, function_id, kind, lane, event, owner, deliveries, due_at)
      values (${job.id}, ${job.id}, ${job.functionId}, 'run', ${job.lane}, ${job.event}, 'gone', 4,
        now() - interval '1 second')`
    other.engine.kick()
    expect(await ended(database.sql, 'chain', 2)).toContainEqual(
      expect.objectContaining({
        id: deadly,
        status: 'failed',
        output: expect.objectContaining({ name: 'WorkerLost' }),
      }),
    )
    expect(steps('deadly')).toEqual([])
  })

  test('is not made while a process of an older release is running, which would not know it, and no handler is called', async () => {
    await database.sql`
      insert into engine.workers (boot_id, host_id, pid, started_at, last_seen)
      values ('old', 'elsewhere', 1, now(), now() + interval '1 hour')`
    const one = await node()
    expect(one.engine.queue({ id: randomUUID(), name: 'n/chain', data: {} })).toBeUndefined()
    const calls = one.calls.length
    await one.send('n/chain', { tag: 'old', tenant: 'one' })
    await ended(database.sql, 'chain')
    expect(one.calls.length).toBeGreaterThan(calls)
    await database.sql`delete from engine.workers where boot_id = 'old'`
    one.engine.kick()
    await until(() => {
      const queued = one.engine.queue({ id: randomUUID(), name: 'n/chain', data: { tenant: 'one' } })
      queued?.notWritten()
      return queued !== undefined
    })
    await enqueue(one, 'new')
    await until(() => steps('new').includes('c'))
    expect(steps('old')).toEqual(['a', 'b', 'c'])
  })

  test('whose claim another process has taken writes nothing more', async () => {
    let release = () => {}
    hold = new Promise((resolve) => {
      release = resolve
    })
    const one = await node()
    const id = await enqueue(one, 'stale', { fails: true })
    await until(() => steps('stale').includes('b'))
    await database.sql`update engine.jobs set owner = 'other', generation = nextval('engine.generation') where id = ${id}`
    release()
    await sleep(300)
    expect(await runsOf(database.sql, 'chain')).toEqual([])
    expect(await jobs()).toMatchObject([{ id, owner: 'other', event: expect.any(String) }])
  })
})

describe('slots', () => {
  test('a lane gets no more than its limit; further runs wait in the queue and have their turn', async () => {
    let release = () => {}
    hold = new Promise((resolve) => {
      release = resolve
    })
    const one = await node()
    const tags = ['p1', 'p2', 'p3', 'p4', 'p5']
    const prepared = tags.map((tag) => prepare(one, tag))
    expect(prepared.map(({ job }) => job.owner !== null)).toEqual([true, true, true, false, false])
    expect(prepare(one, 'q', { tenant: 'two' }).job.owner).not.toBeNull()
    for (const queued of prepared) await insert(queued)
    await until(() => ['p1', 'p2', 'p3'].every((tag) => steps(tag).includes('b')))
    await sleep(200)
    expect([...steps('p4'), ...steps('p5')]).toEqual([])
    release()
    await gone()
    for (const tag of tags) expect(steps(tag)).toEqual(['a', 'b', 'c'])
  })

  test('a lane at its limit continues as soon as the job of its last run is removed, however long that takes', async () => {
    await database.sql.unsafe(`
      create function slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.3); return null; end $$;
      create trigger slowly after delete on engine.jobs for each statement execute function slowly()`)
    try {
      const one = await node(NEVER_LOOKS)
      await Promise.all(['l1', 'l2', 'l3', 'l4'].map((tag) => enqueue(one, tag)))
      await until(() => steps('l4').includes('c'))
      await gone()
    } finally {
      await database.sql.unsafe('drop trigger slowly on engine.jobs; drop function slowly')
    }
  })

  test('nobody passes those who wait', async () => {
    let release = () => {}
    hold = new Promise((resolve) => {
      release = resolve
    })
    const one = await node({ slots: 2 })
    await enqueue(one, 'w1', { tenant: 'a' })
    await until(() => steps('w1').includes('b'))
    await enqueue(one, 'w2', { tenant: 'b' })
    await enqueue(one, 'w3', { tenant: 'c' })
    await sleep(200)
    expect(prepare(one, 'w4', { tenant: 'd' }).job.owner).toBeNull()
    release()
    await gone()
    expect(steps('w3')).toEqual(['a', 'b', 'c'])
  })

  test('a slot that was reserved for nothing is free again, however often that is said', async () => {
    const one = await node()
    for (let round = 0; round < 10; round++) {
      const three = [1, 2, 3].map((n) => prepare(one, `u${n}`))
      expect(three.every(({ job }) => job.owner !== null)).toBe(true)
      expect(prepare(one, 'u4').job.owner).toBeNull()
      for (const queued of [...three, ...three]) queued.notWritten()
    }
    const last = prepare(one, 'u')
    await insert(last)
    last.notWritten()
    await gone()
    expect([1, 2, 3, 4].map((n) => prepare(one, `v${n}`).job.owner !== null)).toEqual([true, true, true, false])
  })

  test('a claim that is committed after the engine stopped is left to others', async () => {
    const one = await node()
    const queued = prepare(one, 'late')
    await one.engine.stop({ graceMs: 100 })
    expect(one.engine.queue({ id: randomUUID(), name: 'n/chain', data: {} })).toBeUndefined()
    await insert(queued)
    await until(async () => (await jobs())[0]?.owner === null)
    await node()
    await gone()
    expect(steps('late')).toEqual(['a', 'b', 'c'])
  })
})
