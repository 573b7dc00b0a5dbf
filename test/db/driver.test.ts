import { connect as openSocket, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { asAdmin } from '@/db/postgres/probe'
import { openDriver, socketFile } from '@/db/url'
import { type FreshDatabase, freshDatabase } from '../support/db'

// Each fails without one change to the driver: patches/README.md names it.

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.sql`create table notes (id int primary key)`
})
afterAll(() => database.close())

type Options = Partial<Parameters<typeof openDriver>[1]>

/** How many connections the drivers have found closed. */
let closed = 0
const onclose = () => {
  closed++
}

/** With one connection, opened again without delay. */
function driver(options: Options = {}): Sql {
  const sql = openDriver(database.url, { max: 1, backoff: () => 0, onclose, ...options })
  onTestFinished(() => sql.end({ timeout: 0 }))
  return sql
}

/** The same, with the socket that it opened last. */
function driverOnSocket() {
  const path = socketFile(new URL(database.url).searchParams.get('host') ?? '')
  let last: Socket | undefined
  const socket = () =>
    new Promise<Socket>((done) => {
      const opened = openSocket(path, () => done(opened))
      last = opened
    })
  // `socket` is not among the driver's types.
  return { sql: driver({ connect_timeout: 5, fetch_types: false, socket } as Options), socket: () => last }
}

const CLOSED = { code: 'CONNECTION_CLOSED' }

/** Makes the server end the connection, and waits until the driver has noticed. */
async function endConnection(sql: Pick<Sql, 'unsafe'>): Promise<void> {
  const [row] = await sql.unsafe('select pg_backend_pid() as pid')
  const before = closed
  await database.sql`select pg_terminate_backend(${row?.pid}, 10000)`
  await expect.poll(() => closed).toBeGreaterThan(before)
}

test('a reserved connection that was lost rejects every further statement', async () => {
  const held = await driver().reserve()
  await endConnection(held)
  for (let call = 0; call < 3; call++) await expect(held`select 1`).rejects.toMatchObject(CLOSED)
})

test('a connection that was lost before its bytes were written is opened again', async () => {
  const { sql, socket } = driverOnSocket()
  await sql`select 1`
  // The bytes are written in the next turn, and the socket closes before it.
  await turn()
  socket()?.destroy()
  await expect(sql`select 2`).rejects.toMatchObject(CLOSED)
  expect(await sql`select 3 as x`).toEqual([{ x: 3 }])
})

test('a connection that is opened again does not repeat the error that ended it', async () => {
  const sql = driver()
  const [row] = await sql`select pg_backend_pid() as pid`
  const running = expect(sql`select pg_sleep(60)`).rejects.toMatchObject(CLOSED)
  await expect
    .poll(() => database.sql`select 1 from pg_stat_activity where pid = ${row?.pid} and query ~ 'pg_sleep'`)
    .toHaveLength(1)
  await database.sql`select pg_terminate_backend(${row?.pid}, 10000)`
  await running
  expect(await sql`select 3 as x`).toEqual([{ x: 3 }])
})

test('a transaction that outlives its connection reaches no other transaction on the next one', async () => {
  const sql = driver()
  let tellOpened = () => {}
  const opened = new Promise<void>((done) => {
    tellOpened = done
  })
  let tellOver = () => {}
  const over = new Promise<void>((done) => {
    tellOver = done
  })
  const lost = sql.begin(async (tx) => {
    await endConnection(tx)
    await opened
    try {
      await tx`insert into notes values (1)`
    } finally {
      tellOver()
    }
  })
  await expect(lost).rejects.toMatchObject(CLOSED)
  await sql.begin(async (tx) => {
    await tx`insert into notes values (2)`
    tellOpened()
    await over
    // Until the rollback has had its time.
    await sleep(50)
    await tx`insert into notes values (3)`
  })
  expect(await database.sql`select id from notes order by id`).toEqual([{ id: 2 }, { id: 3 }])
})

test('a transaction keeps its connection when the socket drains between two statements', async () => {
  const { sql, socket } = driverOnSocket()
  let other: Promise<unknown> | undefined
  const rolledBack = sql.begin(async (tx) => {
    await tx`insert into notes values (4)`
    socket()?.emit('drain')
    other = sql`insert into notes values (5)`.execute()
    await sleep(50)
    throw new Error('rolls back')
  })
  await expect(rolledBack).rejects.toThrow('rolls back')
  await other
  expect(await database.sql`select id from notes where id in (4, 5)`).toEqual([{ id: 5 }])
})

test('a failed look-up of array types rejects the statement that caused it, and nothing else', async () => {
  const admin = new URL(inject('testServer').adminUrl)
  admin.pathname = new URL(database.url).pathname
  const onTypes = (change: string) => asAdmin(admin.href, (sql) => sql.unsafe(change))
  await onTypes('revoke select on pg_type from public')
  onTestFinished(async () => void (await onTypes('grant select on pg_type to public')))
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const sql = driver()
  await expect(sql`select 1`).rejects.toMatchObject({ code: '42501' })
  expect(await sql`select 2 as x`).toEqual([{ x: 2 }])
  await sleep(50)
  expect(unhandled).toEqual([])
})

test('a prepared statement is found without joining its text again', async () => {
  let builtAt = 0
  const debug = () => {
    builtAt = performance.now()
  }
  const sql = driver({ fetch_types: false, debug })
  const text = Buffer.from(`select $1::int as x -- ${'x'.repeat(4_000_000)}`).toString()
  const names: Record<string, boolean> = { [`23${text}`]: true }
  const finding: number[] = []
  const joining: number[] = []
  for (let call = 0; call < 40; call++) {
    const startedAt = performance.now()
    await sql.unsafe(text, [1], { prepare: true })
    finding.push(builtAt - startedAt)
    const joinedAt = performance.now()
    expect(`${[23]}${text}` in names).toBe(true)
    joining.push(performance.now() - joinedAt)
  }
  expect(Math.min(...finding)).toBeLessThan(Math.min(...joining) / 2)
})
