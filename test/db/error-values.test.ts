import { inspect } from 'node:util'
import { sql as fragment } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlState } from '@/db/index'
import { type FreshDatabase, freshDatabase } from '../support/db'

const SECRET = 'planted-secret-4711'

let own: FreshDatabase
beforeAll(async () => {
  own = await freshDatabase()
  await own.sql`create table vaults (hash text primary key, n int, parent text)`
  await own.sql`
    alter table vaults add constraint parents foreign key (parent) references vaults (hash) deferrable initially deferred`
  await own.sql`insert into vaults values (${SECRET})`
  await own.sql`
    create function tell() returns trigger language plpgsql as
    $$ begin execute format('select 1 / 0 -- %s', new.hash); return new; end $$`
  await own.sql`create table telling (hash text)`
  await own.sql`create trigger tell before insert on telling for each row execute function tell()`
})
afterAll(() => own.close())

async function failure(work: PromiseLike<unknown>): Promise<Error> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error)) throw new Error('it went through')
  return error
}

const failing: [what: string, code: string, work: () => PromiseLike<unknown>][] = [
  ['a broken key', '23505', () => own.sql`insert into vaults values (${SECRET})`],
  ['a broken key in Drizzle', '23505', () => own.db.execute(fragment`insert into vaults values (${SECRET})`)],
  [
    'a broken key in a transaction',
    '23505',
    () => own.db.transaction((tx) => tx.execute(fragment`insert into vaults values (${SECRET})`)),
  ],
  [
    'a broken key in a savepoint',
    '23505',
    () => own.sql.begin((tx) => tx.savepoint((inner) => inner`insert into vaults values (${SECRET})`)),
  ],
  [
    'what only the commit finds',
    '23503',
    () => own.sql.begin((tx) => tx`insert into vaults values ('child', 1, ${`missing ${SECRET}`})`),
  ],
  [
    'what only the commit finds, in Drizzle',
    '23503',
    () =>
      own.db.transaction((tx) => tx.execute(fragment`insert into vaults values ('other', 1, ${`missing ${SECRET}`})`)),
  ],
  ['a missing column', '42703', () => own.db.execute(fragment`select nothing from vaults where hash = ${SECRET}`)],
  ['a value of the wrong type', '22P02', () => own.db.execute(fragment`select ${SECRET}::text::int`)],
  ['a JSON text that is none', '22P02', () => own.sql`select ${SECRET}::text::jsonb`],
  ['a statement inside of a function', '22012', () => own.sql`insert into telling values (${SECRET})`],
]

test.each(failing)(
  'the error of %s holds no value that was sent, and says where it failed',
  async (_what, code, work) => {
    const error = await failure(work())
    const shown = [
      inspect(error, { depth: 10 }),
      JSON.stringify(error),
      error.stack,
      error.message,
      String(error.cause),
    ]
    expect(shown.filter((text) => text?.includes(SECRET))).toEqual([])
    expect(sqlState(error)).toBe(code)
  },
)

test('the statement and the names of constraint and table stay', async () => {
  const error = await failure(own.db.execute(fragment`insert into vaults values (${SECRET})`))
  expect(error.message).toContain('insert into vaults values ($1)')
  expect(error.cause).toMatchObject({ constraint_name: 'vaults_pkey', table_name: 'vaults' })
})
