import { sql as fragment } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, DatabaseUnavailable, isUnavailable, openDatabase, sqlState, withDeadline } from '@/db/index'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startProxy } from '../support/tcp-proxy'

let own: FreshDatabase
beforeAll(async () => {
  own = await freshDatabase()
  await own.sql`create table notes (id int primary key, body jsonb, at timestamptz)`
})
afterAll(() => own.close())

/** How a promise ended, and after how long. */
async function outcome(work: PromiseLike<unknown>): Promise<{ ms: number; error: unknown }> {
  const startedAt = performance.now()
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { ms: performance.now() - startedAt, error }
}

describe('a pool', () => {
  test('is shared per URL, and reopened after it was closed', async () => {
    const url = `${own.url}&application_name=once`
    const first = connect(url)
    expect(connect(url).sql).toBe(first.sql)
    await first.close()
    const second = connect(url)
    expect(second.sql).not.toBe(first.sql)
    await second.close()
  })

  test('with a single connection is refused', () => {
    expect(() => openDatabase(own.url, { max: 1 })).toThrow('at least two')
  })

  test('returns the same values from raw statements and Drizzle', async () => {
    const at = new Date('2026-03-01T12:00:00.123Z')
    await own.sql`insert into notes values (1, ${own.sql.json({ a: [1, 'x', null] })}, ${at})`
    expect([...(await own.sql`select body, at from notes where id = 1`)]).toEqual([{ body: { a: [1, 'x', null] }, at }])
    const rows = await own.db.execute(fragment`select body, at from notes where id = ${1}`)
    expect([...rows]).toEqual([{ body: { a: [1, 'x', null] }, at }])
  })

  test.each(['text', '123', '{"a":1}', '', 'null'])('keeps the string %j a string in a json column', async (text) => {
    const [row] = await own.sql`select ${own.sql.json(text)}::jsonb as value`
    expect(row?.value).toBe(text)
    const [inside] = await own.sql.begin((tx) => tx`select ${tx.json(text)}::jsonb as value`)
    expect(inside?.value).toBe(text)
  })

  test('nests fragments, identifiers and lists like the driver', async () => {
    const where = own.sql`where id in ${own.sql([1, 2, 3])}`
    const rows = await own.sql`select ${own.sql('id')} from ${own.sql('notes')} ${where}`
    expect([...rows]).toEqual([{ id: 1 }])
  })
})

describe('an error of the server', () => {
  test('keeps its code, both from raw statements and inside Drizzle’s wrapper', async () => {
    await own.sql`insert into notes (id) values (7)`
    const raw = await outcome(own.sql`insert into notes (id) values (7)`)
    expect(raw.error).toMatchObject({ name: 'PostgresError', code: '23505', table_name: 'notes' })
    const wrapped = await outcome(own.db.execute(fragment`insert into notes (id) values (7)`))
    for (const { error } of [raw, wrapped]) {
      expect(sqlState(error)).toBe('23505')
      expect(isUnavailable(error)).toBe(false)
    }
  })

  test('rolls the transaction back', async () => {
    const failed = own.sql.begin(async (tx) => {
      await tx`insert into notes (id) values (8)`
      await tx`insert into notes (id) values (7)`
    })
    expect(sqlState((await outcome(failed)).error)).toBe('23505')
    expect([...(await own.sql`select id from notes where id = 8`)]).toEqual([])
  })
})

/** Writes a statement under a deadline that soon passes, without sending it. */
function shortly<T>(write: () => T): T {
  const written: T[] = []
  void withDeadline(20, async () => void written.push(write()))
  return written[0] as T
}

/** For calls that must succeed, however busy the machine is. */
const patiently = <T>(work: () => PromiseLike<T>) => withDeadline(60_000, work)

describe('a call has a deadline', () => {
  test('when the statement is slow, and the server is asked to stop it', async () => {
    const database = openDatabase(own.url, { max: 2, deadlineMs: 200, applicationName: 'slow' })
    await patiently(() => database.sql`select 1`)
    const { ms, error } = await outcome(database.sql`select pg_sleep(90)`)
    expect(error).toBeInstanceOf(DatabaseUnavailable)
    expect(ms).toBeLessThan(60_000)
    const running = () => own.sql`
      select 1 from pg_stat_activity where application_name = 'slow' and state = 'active' and query like '%pg_sleep%'`
    await expect.poll(async () => (await running()).length).toBe(0)
    await database.close()
  })

  test('when every connection is busy', async () => {
    const database = openDatabase(own.url, { max: 2, deadlineMs: 300 })
    let release = () => {}
    const released = new Promise<void>((done) => {
      release = done
    })
    const begun: Promise<void>[] = []
    const busy = [1, 2].map(() => {
      let tell = () => {}
      begun.push(new Promise((done) => (tell = done)))
      return patiently(() =>
        database.sql.begin(async (tx) => {
          await tx`select 1`
          tell()
          await released
        }),
      )
    })
    await Promise.all(begun)
    expect(isUnavailable((await outcome(database.sql.begin((tx) => tx`select 1`))).error)).toBe(true)
    release()
    await Promise.all(busy)
    await database.close()
  })

  test('that a transaction shares among its statements, and work that waited for it never runs', async () => {
    const database = openDatabase(own.url, { max: 2, deadlineMs: 100 })
    let ran = 0
    const { ms, error } = await outcome(
      database.sql.begin(async (tx) => {
        await tx`insert into notes (id) values (9)`
        for (let step = 0; step < 10; step++) {
          ran += 1
          await tx`select pg_sleep(0.08)`
        }
      }),
    )
    expect(error).toBeInstanceOf(DatabaseUnavailable)
    expect(ms).toBeGreaterThan(250)
    expect(ran).toBeLessThan(6)
    await database.close()
    expect([...(await own.sql`select id from notes where id = 9`)]).toEqual([])
  })

  test('that `withDeadline` replaces, up or down, for everything a function does', async () => {
    const database = openDatabase(own.url, { max: 2, deadlineMs: 100 })
    const { sql, db } = database
    await patiently(() => sql`select pg_sleep(0.3)`)
    await patiently(() => db.execute(fragment`select pg_sleep(0.3)`))
    await patiently(() => sql.begin((tx) => tx`select pg_sleep(0.5)`))
    await patiently(async () => {
      await sql`select pg_sleep(0.2)`
      await db.transaction((tx) => tx.execute(fragment`select pg_sleep(0.4)`))
    })
    const short = await outcome(withDeadline(30, () => sql`select pg_sleep(90)`))
    expect(isUnavailable(short.error)).toBe(true)
    expect(short.ms).toBeLessThan(60_000)
    await database.close()
  })

  test('that fragments and finished statements do not run into', async () => {
    const database = openDatabase(own.url, { max: 2, deadlineMs: 60_000 })
    // Written under a deadline that passes, and sent under another.
    const part = shortly(() => database.sql`id > 0`)
    await patiently(() => database.sql`select 1`)
    await new Promise((done) => setTimeout(done, 100))
    expect(await database.sql`select 1 as x from notes where ${part} limit 0`).toHaveLength(0)
    await database.close()
  })
})

describe('a broken link', () => {
  test('fails each call by its deadline, and after three the pool is replaced for everything that uses it', async () => {
    const proxy = await startProxy(own.url)
    let replaced = 0
    const database = openDatabase(proxy.url, { max: 3, deadlineMs: 200, onReplaced: () => (replaced += 1) })
    const { sql, db } = database
    await patiently(() => Promise.all([sql`select 1`, sql`select 1`, db.execute(fragment`select 1`)]))

    proxy.stall()
    for (let call = 0; call < 3; call++) {
      expect((await outcome(sql`select 1`)).error).toBeInstanceOf(DatabaseUnavailable)
    }
    expect(replaced).toBe(1)

    proxy.recover()
    await patiently(async () => {
      expect([...(await sql`select 1 as x`)]).toEqual([{ x: 1 }])
      expect([...(await db.execute(fragment`select 2 as x`))]).toEqual([{ x: 2 }])
      expect(await db.transaction(async (tx) => [...(await tx.execute(fragment`select 3 as x`))])).toEqual([{ x: 3 }])
    })
    await database.close()
    await proxy.close()
  })

  test('fails a running transaction by its deadline', async () => {
    const proxy = await startProxy(own.url)
    const database = openDatabase(proxy.url, { max: 2, deadlineMs: 150 })
    await patiently(() => database.sql`select 1`)
    const transaction = database.sql.begin(async (tx) => {
      await tx`select 1`
      proxy.stall()
      await tx`select 1`
    })
    expect((await outcome(transaction)).error).toBeInstanceOf(DatabaseUnavailable)
    await proxy.close()
    await database.close()
  })

  test.each([
    ['between two statements', 'stall'],
    // The server has described it, and waits for its values.
    ['within a statement', 'stallAnswers'],
  ] as const)('leaves no locks behind: the server ends a transaction that its caller gave up %s', async (_, stall) => {
    await own.sql`insert into notes values (7) on conflict do nothing`
    const proxy = await startProxy(own.url)
    const database = openDatabase(proxy.url, { max: 2, deadlineMs: 300, statementTimeoutMs: 2_000 })
    const lock = () => database.sql.begin((tx) => tx`select 1 from notes where id = 7 for update`)
    await patiently(lock)
    const transaction = database.sql.begin(async (tx) => {
      await tx`select 1 from notes where id = 7 for update`
      proxy[stall]()
      await tx`select body from notes where id = ${7}`
    })
    expect((await outcome(transaction)).error).toBeInstanceOf(DatabaseUnavailable)
    proxy.recover()
    // Sooner than the server's own setting would.
    await withDeadline(30_000, lock)
    await database.close()
    await proxy.close()
  })

  test('a transaction may take as long as its caller waits, also one that waits longer than others', async () => {
    const database = openDatabase(own.url, { max: 2, deadlineMs: 100, statementTimeoutMs: 60_000 })
    await patiently(() => database.sql`select 1`)
    const slow = (seconds: number) => database.sql.begin((tx) => tx`select pg_sleep(${seconds}), 1 as done`)
    // The server ends others after 400 ms.
    expect((await withDeadline(20_000, () => slow(1)))[0]).toMatchObject({ done: 1 })
    const limit = () => database.sql.begin((tx) => tx<{ transaction_timeout: string }[]>`show transaction_timeout`)
    expect(await withDeadline(20_000, limit)).toMatchObject([
      { transaction_timeout: expect.stringMatching(/^(20|1\d{4}|20\d{3})/) },
    ])
    const others = await patiently(() => database.sql`show transaction_timeout`)
    expect(others).toEqual([{ transaction_timeout: '400ms' }])
    await database.close()
  })

  test('does not cause a replacement while the server answers, however slow some statements are', async () => {
    let replaced = 0
    const database = openDatabase(own.url, { max: 4, deadlineMs: 100, onReplaced: () => (replaced += 1) })
    for (let call = 0; call < 6; call++) {
      await outcome(database.sql`select pg_sleep(5)`)
      await patiently(() => database.sql`select 1`)
    }
    expect(replaced).toBe(0)
    await database.close()
  })

  test('is distinguished from other errors when it is cut, refused or absent', async () => {
    const proxy = await startProxy(own.url)
    const database = openDatabase(proxy.url, { max: 2, deadlineMs: 1_000 })
    await patiently(() => database.sql`select 1`)
    const running = outcome(database.sql`select pg_sleep(5)`)
    setTimeout(proxy.cut, 50)
    expect(isUnavailable((await running).error)).toBe(true)
    expect(isUnavailable((await outcome(database.db.execute(fragment`select 1`))).error)).toBe(true)
    await proxy.close()
    expect(isUnavailable((await outcome(database.sql`select 1`)).error)).toBe(true)
    await database.close()

    const nowhere = openDatabase('postgres://millrace@localhost/x?host=/nonexistent', { max: 2, deadlineMs: 1_000 })
    expect(isUnavailable((await outcome(nowhere.sql`select 1`)).error)).toBe(true)
    await nowhere.close()
  })

  test('keeps its listeners: they hear from the replacement pool', async () => {
    const proxy = await startProxy(own.url)
    const database = openDatabase(proxy.url, { max: 2, deadlineMs: 200 })
    const heard: string[] = []
    await patiently(() => database.listen('news', { heard: (text) => heard.push(text) }).ready)
    await own.sql.notify('news', 'before')
    await expect.poll(() => heard).toEqual(['before'])

    proxy.stall()
    await Promise.all([1, 2, 3].map(() => outcome(database.sql`select 1`)))
    proxy.recover()
    const after = async () => {
      await own.sql.notify('news', 'after')
      return heard.includes('after')
    }
    await expect.poll(after, { interval: 100 }).toBe(true)
    await database.close()
    await proxy.close()
  })

  test('has all its listeners hear through one connection, which is there as long as one of them is', async () => {
    const database = openDatabase(own.url, { max: 2, applicationName: 'listens' })
    const connections = async () =>
      own.sql<{ pid: number }[]>`
        select pid from pg_stat_activity where application_name = 'listens' and query ~ '^(un)?listen '`
    const told: string[] = []
    const subscribe = (name: string, channel: string) =>
      database.listen(channel, {
        heard: (text) => told.push(`${name} heard ${text}`),
        listening: () => told.push(`${name} listens`),
        lost: () => told.push(`${name} lost it`),
      })
    const expectTold = async (...lines: string[]) => {
      await expect.poll(() => told.length).toBeGreaterThanOrEqual(lines.length)
      expect(told.splice(0).sort()).toEqual(lines.sort())
    }
    const news = subscribe('news', 'a')
    await news.ready
    const more = subscribe('more news', 'a')
    const odd = subscribe('odd', 'b "or" c')
    await Promise.all([more.ready, odd.ready])
    await expectTold('news listens', 'more news listens', 'odd listens')
    const [only, ...others] = await connections()
    expect(others).toEqual([])
    await own.sql.notify('a', '1')
    await own.sql.notify('b "or" c', '2')
    await expectTold('news heard 1', 'more news heard 1', 'odd heard 2')

    await own.sql`select pg_terminate_backend(${only?.pid ?? 0})`
    const again = ['news', 'more news', 'odd'].flatMap((name) => [`${name} lost it`, `${name} listens`])
    await expectTold(...again)
    more.close()
    await expectTold('more news lost it')
    odd.close()
    await expectTold('odd lost it')
    await own.sql.notify('b "or" c', '3')
    await own.sql.notify('a', '4')
    await expectTold('news heard 4')
    expect(await connections()).toHaveLength(1)
    news.close()
    await expect.poll(connections).toEqual([])
    const late = subscribe('late', 'a')
    await late.ready
    await database.close()
    await expectTold('news lost it', 'late listens', 'late lost it')
  })

  test('sends a statement on the free connection that was used last, whose server process has warm caches', async () => {
    const database = openDatabase(own.url, { max: 4 })
    const process = async () => (await database.sql`select pg_backend_pid() pid, pg_sleep(0.05)`)[0]?.pid
    const all = await Promise.all([1, 2, 3, 4].map(process))
    expect(new Set(all).size).toBe(4)
    const used = [await process(), await process(), await process()]
    expect(new Set(used).size).toBe(1)
    await database.close()
  })
})
