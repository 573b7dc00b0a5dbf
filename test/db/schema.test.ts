import { readdir, readFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { dumpFunctions, dumpSchema } from '../support/schema'

const HEAD = `-- The database as the migrations leave it, to be read. Never edit it; after a new migration, write it with
-- npx vitest run test/db/schema.test.ts -u

`

let database: FreshDatabase
beforeEach(async () => {
  database = await freshDatabase()
})
afterEach(() => database?.close())

test('the migrations lead to what db/schema.sql shows', async () => {
  await expect(HEAD + (await dumpSchema(database.sql))).toMatchFileSnapshot('../../db/schema.sql')
})

test('nothing is missing from it: an empty database becomes the same by it', async () => {
  const { sql } = database
  const dumped = await dumpSchema(sql)
  await sql.unsafe('drop schema public, engine cascade; create schema public')
  await sql.unsafe(dumped)
  expect(await dumpSchema(sql)).toBe(dumped)
})

test('after the migrations, the functions and triggers are those of db/functions, and no others', async () => {
  const { sql } = database
  const migrated = await dumpFunctions(sql)
  // The triggers go with their functions.
  await sql`do $$ declare f regprocedure; begin
    for f in select oid from pg_proc where pronamespace in ('public'::regnamespace, 'engine'::regnamespace) loop
      execute 'drop function ' || f || ' cascade';
    end loop; end $$`
  expect(await dumpFunctions(sql)).toEqual([])
  for (const file of await readdir('db/functions')) await sql.unsafe(await readFile(`db/functions/${file}`, 'utf8'))
  expect(await dumpFunctions(sql), 'a change of db/functions needs a migration (CONTRIBUTING.md)').toEqual(migrated)
})
