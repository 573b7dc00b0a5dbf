import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { batchStatement, preferStartedWork, rowColumns, sendBatched } from '@/db/index'
import { type FreshDatabase, freshDatabase } from '../support/db'

let database: FreshDatabase
const sent: string[] = []

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  await database.sql`create table counters (id text primary key, n int not null check (n < 100), note text)`
  const debug = (_connection: number, text: string) => text.includes('counters') && sent.push(text)
  Object.assign(database.db.$client.rows.options, { debug })
})
afterAll(() => database.close())
beforeEach(async () => {
  await database.sql`truncate counters`
  await database.sql`insert into counters select id, 0 from unnest(array['a', 'b', 'c', 'd']) id`
  sent.length = 0
})

/** Adds to a counter, if it exists. */
const ADD = batchStatement(
  rowColumns('id text, by int, note text'),
  'id',
  (rows, read, locked) => `
  with ${rows},
  held as materialized (
    select i.* from i cross join lateral (select 1 from counters c where c.id = i.id for no key update ${locked}) held),
  added as (
    update counters c set n = c.n + x.by, note = x.note from held i, ${read('by, note')}
    where c.id = i.id returning c.id, c.n)
  select i.ord, added.n from held i join added on added.id = i.id`,
)

const add = (id: string, by: number, key = id) =>
  sendBatched<{ n: number }>(database.db, ADD, key, { id, by, note: null })
const counts = async () =>
  Object.fromEntries((await database.sql`select id, n from counters order by id`).map(({ id, n }) => [id, n]))

test('rows of one moment share a statement, and each caller gets its own answer', async () => {
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((id, index) => add(id, index + 1)))
  expect(answers).toMatchObject([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }])
  expect(sent).toHaveLength(1)
})

/** How many of 32 callers of one statement continued in each turn of the event loop. */
async function turnsOfMany(): Promise<number[]> {
  const ids = Array.from({ length: 32 }, (_, index) => `many_${index}`)
  await database.sql`insert into counters select id, 0 from unnest(${ids}::text[]) id`
  let wentOn = 0
  let over = false
  const perTurn: number[] = []
  const look = (before: number) => {
    perTurn.push(wentOn - before)
    if (!over) setImmediate(look, wentOn)
  }
  look(0)
  const answers = await Promise.all(
    ids.map(async (id) => {
      const answer = await add(id, 1)
      wentOn++
      return answer
    }),
  )
  over = true
  await new Promise((done) => setImmediate(done))
  expect(answers.every((answer) => answer?.n === 1)).toBe(true)
  expect(sent).toHaveLength(1)
  expect(perTurn.reduce((all, one) => all + one, 0)).toBe(32)
  return perTurn
}

test('callers of one statement continue a few at a time, so that others get their turn in between', async () => {
  expect(Math.max(...(await turnsOfMany()))).toBeLessThanOrEqual(16)
})

test('while starts are refused, callers of one statement continue all together', async () => {
  preferStartedWork(60_000)
  try {
    expect(Math.max(...(await turnsOfMany()))).toBe(32)
  } finally {
    preferStartedWork(0)
  }
})

/**
 * 64 callers share two statements whose answers arrive at the same moment; the chosen ones then send another row each.
 * @returns how many statements were sent by the time the last caller continued, and in the end
 */
async function sentAfterMany(again: (index: number) => boolean): Promise<{ byLast: number; inTheEnd: number }> {
  const ids = Array.from({ length: 64 }, (_, index) => `many_${String(index).padStart(2, '0')}`)
  await database.sql`insert into counters select id, 0 from unnest(${ids}::text[]) id`
  const { rows } = database.db.$client
  let arrived = () => {}
  const bothArrived = new Promise<void>((done) => {
    arrived = done
  })
  let statements = 0
  let answered = 0
  const unsafe = async (text: string, values: string[]) => {
    statements++
    const answer = await rows.unsafe(text, values)
    if (++answered === 2) arrived()
    await bothArrived
    return answer
  }
  const db = { $client: { rows: { unsafe } } } as unknown as FreshDatabase['db']
  const once = (id: string) => sendBatched<{ n: number }>(db, ADD, id, { id, by: 1, note: null })
  let byLast = 0
  const caller = async (id: string, index: number) => {
    const first = await once(id)
    byLast = statements
    return again(index) ? once(id) : first
  }
  const answers = await Promise.all(ids.map(caller))
  expect(answers.map((answer) => answer?.n)).toEqual(ids.map((_, index) => (again(index) ? 2 : 1)))
  return { byLast, inTheEnd: statements }
}

test('many rows are sent before all other callers have continued, so that Postgres is not idle meanwhile', async () => {
  expect(await sentAfterMany(() => true)).toEqual({ byLast: 3, inTheEnd: 4 })
})

test('a few rows wait for callers that have yet to continue, and share a statement with theirs', async () => {
  expect(await sentAfterMany((index) => index < 3 || index >= 61)).toEqual({ byLast: 2, inTheEnd: 3 })
})

test('a row that is refused does not undo the others', async () => {
  expect(await Promise.all([add('a', 1), add('nobody', 1), add('b', 1)])).toMatchObject([{ n: 1 }, null, { n: 1 }])
  expect(await counts()).toMatchObject({ a: 1, b: 1 })
})

test('a row that Postgres rejects fails alone', async () => {
  const [a, b, c] = await Promise.allSettled([add('a', 1), add('b', 100), add('c', 1)])
  expect([a?.status, b?.status, c?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await counts()).toMatchObject({ a: 1, b: 0, c: 1 })
})

test('rows with the same key are sent one after the other, so none is lost or locked out', async () => {
  await Promise.all([add('a', 1), add('a', 1), add('a', 1)])
  expect(await counts()).toMatchObject({ a: 3 })
  expect(sent).toHaveLength(3)
})

test('a row that another transaction has locked waits alone', async () => {
  let release = () => {}
  const freed = new Promise<void>((done) => {
    release = done
  })
  let isHeld = () => {}
  const held = new Promise<void>((done) => {
    isHeld = done
  })
  const holder = database.sql.begin(async (tx) => {
    await tx`update counters set n = 10 where id = 'a'`
    isHeld()
    await freed
  })
  await held
  let arrived = false
  const waiting = add('a', 1).then((row) => {
    arrived = true
    return row
  })
  expect(await Promise.all([add('b', 1), add('c', 1)])).toMatchObject([{ n: 1 }, { n: 1 }])
  expect(arrived).toBe(false)
  release()
  await holder
  // It saw the row as it was after the wait.
  expect(await waiting).toMatchObject({ n: 11 })
})

test('half of a surrogate pair is stored as U+FFFD, and a NUL character fails its own row', async () => {
  const note = (id: string, text: string) => sendBatched(database.db, ADD, id, { id, by: 1, note: text })
  const results = await Promise.allSettled([note('a', 'x\ud800'), note('b', 'x\u0000'), note('c', 'x')])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await database.sql`select note from counters where id = 'a'`).toMatchObject([{ note: 'x\ufffd' }])
})
