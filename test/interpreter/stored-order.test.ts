import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inStoredOrder, type JsonValue, toStorableJson } from '@/server/definition/json'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// A walk passes its data from step to step in memory; after a crash it reads the data back. Both must produce the same
// texts.

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

describe('values in memory', () => {
  test('have their names in the order in which the database gives them back', async () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.constantFrom('a', 'B', 'é', '10', '9', '𝒳', ''),
    )
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(null, true, 0.1, 1e21, 5e-324, 'text'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 6 }),
      ),
    }))
    const values = fc.sample(value, rounds(1_000, 20_000)).map((one): JsonValue => toStorableJson(one))
    const back = await database.sql<{ value: JsonValue }[]>`
      select value from jsonb_array_elements(${JSON.stringify(values)}::jsonb) with ordinality as v(value, ord)
      order by ord`
    for (const [index, one] of values.entries()) {
      expect(JSON.stringify(inStoredOrder(one))).toBe(JSON.stringify(back[index]?.value))
    }
  })

  test('make the same text in the next step and in the result as after they were stored', async () => {
    const effects = await startEffects(({ path }) =>
      path === '/a' ? { body: { o: { bb: 1, a: { d: 1, c: 2 } } } } : {},
    )
    try {
      const text = { text: '${o}' }
      const steps = [
        { id: 'a', type: 'test-effect', url: `${effects.url}a` },
        { id: 'b', type: 'test-effect', url: `${effects.url}b`, body: text },
        { id: 'end', type: 'end-flow', output: text },
      ]
      const edges = [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'end' },
      ]
      const run = await runtime.wait(await runtime.start({ steps, edges }))
      const [stored] = await database.sql`select data->'o' as o from runs where id = ${run.runId}`
      const seen = effects.seen.find(({ path }) => path === '/b')?.body.text
      expect(JSON.stringify(seen)).toBe(JSON.stringify(stored?.o))
      expect(JSON.stringify((run.result as { text: unknown }).text)).toBe(JSON.stringify(stored?.o))
    } finally {
      await effects.stop()
    }
  })
})
