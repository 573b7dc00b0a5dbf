import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import { AppError } from '@/server/errors'
import { parseInput } from '@/server/parse'
import { OPERATIONS } from '@/server/rest/openapi-document'
import { stepTypes } from '@/server/steps/registry'

// A schema library's own messages describe the library's types, and mean nothing to a caller.

const ZODS_WORDS =
  /invalid (input|option|type|key|value|string|number|element|discriminator|\w+$)|expected|received|too (big|small)|unrecognized|\bZod/i

const WRONG: JsonValue[] = [
  null,
  5,
  -1,
  1.5,
  1e300,
  '',
  'x',
  'x'.repeat(200_000),
  true,
  [],
  [1, null],
  {},
  { a: { b: 1 } },
  { '?': 1 },
]

type Schema = JsonObject

/** Where a value of a schema can be, to a depth. */
function* placesIn(root: Schema, schema: Schema, at: (string | number)[], level = 0): Generator<(string | number)[]> {
  yield at
  if (level > 4) return
  const named =
    typeof schema.$ref === 'string'
      ? (root.$defs as Record<string, Schema> | undefined)?.[schema.$ref.split('/').at(-1) ?? '']
      : undefined
  for (const one of [named, ...((schema.anyOf ?? []) as Schema[]), ...((schema.oneOf ?? []) as Schema[])])
    if (one) yield* placesIn(root, one, at, level + 1)
  for (const [name, field] of Object.entries((schema.properties ?? {}) as Record<string, Schema>))
    yield* placesIn(root, field, [...at, name], level + 1)
  if (isJsonObject(schema.items)) yield* placesIn(root, schema.items, [...at, 0], level + 1)
  if (isJsonObject(schema.additionalProperties))
    yield* placesIn(root, schema.additionalProperties, [...at, 'field'], level + 1)
}

function put(into: JsonValue | undefined, [key, ...rest]: (string | number)[], value: JsonValue): JsonValue {
  if (key === undefined) return value
  if (typeof key === 'number') return [put(Array.isArray(into) ? into[0] : undefined, rest, value)]
  const object = isJsonObject(into) ? into : {}
  return { ...object, [key]: put(object[key], rest, value) }
}

/** All messages about invalid values for a schema. */
function saidOf(schema: z.ZodType, good: JsonValue): string[] {
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', cycles: 'ref' }) as Schema
  const said = new Set<string>()
  for (const at of placesIn(shape, shape, [])) {
    for (const value of [...WRONG, undefined as never]) {
      try {
        parseInput(schema, put(good, at, value))
      } catch (err) {
        if (!(err instanceof AppError)) throw err
        for (const { message } of err.details as { message: string }[]) said.add(message)
      }
    }
  }
  return [...said]
}

const operations = OPERATIONS.flatMap(({ method, path, body, query }) => {
  const [example] = Object.values(body?.examples ?? {})
  return [
    ...(body ? [[`the body of ${method} ${path}`, body.schema, example?.value ?? {}] as const] : []),
    ...(query ? [[`the query of ${method} ${path}`, query, {}] as const] : []),
  ]
})
const steps = stepTypes().map(({ type, config }) => [`a step of the type ${type}`, config as z.ZodType, {}] as const)

describe('the words of the schema library are never used for', () => {
  test.each([...operations, ...steps])('%s', (_name, schema, good) => {
    const said = saidOf(schema, good as JsonValue)
    expect(said.filter((message) => ZODS_WORDS.test(message))).toEqual([])
  })
})
