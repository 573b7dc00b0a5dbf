import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { openDatabase } from '@/db/index'
import { type FailureKind, failureKindOf } from '@/inngest/engine/errors'
import { freshDatabase } from '../support/db'
import { startProxy } from '../support/tcp-proxy'
import { createNode, NEVER_LOOKS } from './node'
import { createWorld, ended, runsOf, until, type World } from './support'

describe('the class of a failed write', () => {
  const withCode = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more })
  test.each<[FailureKind, string, unknown]>([
    ['unavailable', 'a refused connection', withCode('ECONNREFUSED', { syscall: 'connect' })],
    ['unavailable', 'a connection that closed', withCode('CONNECTION_CLOSED')],
    ['unavailable', 'a pool that gives up waiting', withCode('DATABASE_UNAVAILABLE')],
    ['unavailable', 'a server that shuts down', withCode('57P01')],
    ['unavailable', 'a deadlock', withCode('40P01')],
    ['unavailable', 'a session that was idle in a transaction', withCode('25P03')],
    ['unavailable', 'a full disk', withCode('53100')],
    ['refused', 'a NUL in a text', withCode('22021')],
    ['refused', 'a broken constraint', withCode('23505')],
    ['refused', 'a value beyond a limit', withCode('54000')],
    ['fault', 'a function that does not exist', withCode('42883')],
    ['fault', 'a mistake in a program', new TypeError('x is not a function')],
    ['fault', 'a wrong argument', withCode('ERR_INVALID_ARG_TYPE')],
    ['fault', 'something that is no error', 'text'],
  ])('%s: %s', (trouble, _, error) => expect(failureKindOf(error)).toBe(trouble))
})

describe('faults', () => {
  let world: World
  let ran: string[] = []
  afterEach(async () => {
    ran = []
    await world?.end()
  })

  /** Makes Postgres raise this error whenever a run of the function would enter one of these states. */
  async function breakEnding(functionId: string, state: string, statuses: string[]): Promise<void> {
    await world.sql.unsafe(`
      create function broken() returns trigger language plpgsql as $$
      begin raise exception 'the write is broken' using errcode = '${state}'; end $$;
      create trigger broken before insert or update on engine.runs for each row
      when (new.function_id = 'app-${functionId}' and new.status in (${statuses.map((one) => `'${one}'`).join()}))
      execute function broken()`)
  }
  const mend = () => world.sql.unsafe('drop trigger broken on engine.runs')

  const start = (options = {}) =>
    createWorld(
      (client) => [
        client.createFunction(
          {
            id: 'unlucky',
            triggers: [{ event: 'f/unlucky' }],
            onFailure: async ({ error, step }) => {
              await step.run('tell', () => ran.push(`told: ${error.message}`))
            },
          },
          async ({ step }) => {
            await step.run('work', () => ran.push('work'))
          },
        ),
        client.createFunction({ id: 'other', triggers: [{ event: 'f/other' }] }, async () => 'fine'),
        client.createFunction({ id: 'tick', triggers: [{ cron: '*/5 * * * *' }] }, async () => undefined),
      ],
      options,
    )

  test('a run whose end cannot be written because of a bug fails with that error', async () => {
    world = await start()
    await breakEnding('unlucky', '42883', ['completed'])
    await world.send('f/unlucky')
    const [run] = await ended(world.sql, 'unlucky')
    expect(run).toMatchObject({ status: 'failed', output: { message: expect.stringContaining('the write is broken') } })
    await until(() => ran.some((entry) => entry.startsWith('told')))
    expect(ran).toEqual(['work', expect.stringMatching(/^told: .*the write is broken/)])
  })

  test('a result waits for an unavailable database, however many attempts it takes', async () => {
    world = await start()
    await breakEnding('unlucky', '57P03', ['completed'])
    await world.send('f/unlucky')
    const tries = () => world.lines.filter(({ msg }) => msg === 'a result could not be written yet').length
    await until(() => tries() >= 6)
    expect(await runsOf(world.sql, 'unlucky')).toMatchObject([{ status: 'running' }])
    await mend()
    expect(await ended(world.sql, 'unlucky')).toMatchObject([{ status: 'completed' }])
    // A single call, so nothing was repeated.
    expect(world.calls.filter(({ call }) => call.url.includes('fnId=app-unlucky&'))).toHaveLength(1)
  })

  test('a job that always fails in the engine gives up its slot, and its run ends once that is possible', async () => {
    world = await start({ slots: 1 })
    await breakEnding('unlucky', '42883', ['completed', 'failed'])
    await world.send('f/unlucky')
    await until(() => ran.includes('work'))
    await world.send('f/other')
    await ended(world.sql, 'other')
    await until(async () => (await world.sql`select 1 from engine.jobs where deliveries > 0 and owner is null`)[0])
    await mend()
    await world.sql`update engine.jobs set deliveries = 5, due_at = now() where kind = 'run'`
    world.engine.kick()
    expect(await ended(world.sql, 'unlucky')).toMatchObject([{ status: 'failed', output: { name: 'WorkerLost' } }])
    await until(() => ran.some((entry) => entry.startsWith('told')))
  })

  test('a cron whose tick always fails skips that tick and is due at the next', async () => {
    let now = new Date('2026-01-01T00:00:30Z')
    world = await start({ now: () => now })
    await breakEnding('tick', '42883', ['running'])
    await world.sql`update engine.jobs set deliveries = 4`
    now = new Date('2026-01-01T00:05:01Z')
    world.engine.kick()
    await until(async () => (await world.sql`select 1 from engine.jobs where deliveries = 5`)[0])
    now = new Date('2026-01-01T00:11:00Z')
    world.engine.kick()
    await until(async () => (await world.sql`select 1 from engine.jobs where deliveries = 0`)[0])
    const [cron] = await world.sql`select due_at from engine.jobs`
    expect(cron).toEqual({ due_at: new Date('2026-01-01T00:15:00Z') })
    expect(await runsOf(world.sql, 'tick')).toEqual([])
  })
})

describe('a claim whose answer is lost', () => {
  let world: World
  afterEach(() => world?.end())

  /** Only the engine's own check after a failure can find it: the lease ends hours later. */
  const start = (wrap = (sql: World['sql']) => sql) =>
    createWorld(
      (client) => [client.createFunction({ id: 'lost', triggers: [{ event: 'f/lost' }] }, async () => 'found')],
      { ...NEVER_LOOKS, handlers: new Map() },
      wrap,
    )

  test('is released, and the job is done', async () => {
    let lost = 0
    world = await start((sql) => {
      const lossy = (query: PromiseLike<unknown>) =>
        query.then(() => {
          lost++
          throw Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' })
        })
      return new Proxy(sql, {
        apply(target, self, args: [TemplateStringsArray, ...unknown[]]) {
          const query = Reflect.apply(target, self, args) as PromiseLike<unknown>
          return lost === 0 && args[0].join('').includes('taken as (') ? lossy(query) : query
        },
      })
    })
    await insert(null)
    world.engine.kick()
    await done()
    expect(lost).toBe(1)
  })

  test('also if a start committed it', async () => {
    world = await start()
    const queued = await insert('its own')
    expect(queued.job.owner).not.toBeNull()
    queued.notWritten()
    await done()
  })

  /** Inserts a job as the product does, without a response to its caller. */
  async function insert(owner: 'its own' | null) {
    const queued = world.engine.queue({ id: randomUUID(), name: 'f/lost', data: {} })
    if (!queued) throw new Error('cannot be queued')
    const { job } = queued
    await world.sql`
      insert into engine.jobs (id, run_id, function_id, kind, lane, event, owner, due_at, generation)
      values (${job.id}, ${job.id}, ${job.functionId}, 'run', ${job.lane}, ${job.event},
        ${owner === null ? null : job.owner},
        now() + ${owner === null ? 0 : job.leaseMs}::float8 * interval '1 millisecond', nextval('engine.generation'))`
    return queued
  }

  async function done(): Promise<void> {
    await until(async () => (await world.sql`select 1 from engine.jobs where kind = 'run'`).length === 0)
    expect(world.lines.map(({ msg }) => msg)).toContain('released jobs that were claimed without an answer')
  }
})

test('an engine whose link to the database stalled beats on once it is back', async () => {
  const own = await freshDatabase()
  const proxy = await startProxy(own.url)
  const database = openDatabase(proxy.url, { max: 4, deadlineMs: 3_000 })
  const { engine, lines } = createNode(database.sql, (client) => [client.createFunction({ id: 'f' }, async () => {})], {
    longestPauseMs: 100,
    listen: (channel, heard) => {
      const { ready, close } = database.listen(channel, { heard })
      ready.catch(() => {})
      return { close }
    },
  })
  await engine.start()
  proxy.stall()
  await until(() => lines.some(({ msg }) => msg === 'the heartbeat failed'))
  proxy.recover()
  const seen = async () => (await own.sql<{ at: Date }[]>`select max(last_seen) as at from engine.workers`)[0]?.at
  // More than once: work after the first heartbeat must not wait for the connections that stalled.
  for (let beats = 0; beats < 3; beats++) {
    const before = await seen()
    await until(async () => ((await seen()) ?? 0) > (before ?? 0))
  }
  await engine.stop({ graceMs: 0 })
  await database.close()
  await proxy.close()
  await own.close()
})
