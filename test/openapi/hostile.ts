import fc from 'fast-check'
import type { JsonValue } from '@/server/definition/json'
import { BODIES, BYTES, CONTENT_TYPES, FORMS, HEADERS, JSON_VALUES, SEGMENTS, VALUES } from './hostile-values'
import type { Documented } from './validate'

/** A request sent exactly as written: nothing corrects it on the way. */
export interface RawRequest {
  method: string
  path: string
  headers: Record<string, string | string[]>
  body: Buffer | null
}

/** Existing ids, by the kind that a parameter names. */
export type Ids = Record<'workflow' | 'run' | 'agent' | 'tool' | 'file', string[]>

/** The kind of id that a parameter takes. */
function kindOf(path: string, name: string): keyof Ids {
  if (name === 'runId') return 'run'
  if (name === 'toolId') return 'tool'
  if (name === 'agentId') return 'agent'
  return path.startsWith('/api/files/') ? 'file' : 'workflow'
}

/** Requests to one operation. Most pass authentication and routing, and each has one fault. */
export function hostileRequest(
  { method, path, operation }: Documented,
  ids: Ids,
  key: string,
): fc.Arbitrary<RawRequest> {
  const everyId = Object.values(ids).flat()
  const segment = (name: string) =>
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.constantFrom(...(name === 'version' ? ['1', 'latest', 'published'] : ids[kindOf(path, name)])),
      },
      { weight: 1, arbitrary: fc.constantFrom(...everyId) },
      { weight: 3, arbitrary: fc.constantFrom(...SEGMENTS) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map(percentEncode) },
    )
  const parts = path.split('/').map((text) => (text.startsWith('{') ? segment(text.slice(1, -1)) : fc.constant(text)))
  const names = operation.parameters.flatMap((it) => ('in' in it && it.in === 'query' ? [it.name] : []))
  const pair = fc.tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...names, 'version', 'limit') },
      { weight: 1, arbitrary: fc.constantFrom('__proto__', 'a[]', '', '%00', '%ff', 'toString', 'data') },
    ),
    fc.oneof(fc.constantFrom(...VALUES), fc.string({ unit: 'binary', maxLength: 20 }).map(percentEncode)),
  )
  const query = fc.oneof(
    { weight: names.length > 0 ? 1 : 4, arbitrary: fc.constant('') },
    {
      weight: 2,
      arbitrary: fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.map((it) => it.join('=')).join('&')),
    },
  )
  return fc
    .record({
      parts: fc.tuple(...parts),
      query,
      headers: headers(),
      sent: method === 'GET' ? fc.constant(NOTHING) : sentBody(operation),
    })
    .map(({ parts, query, headers, sent }) => ({
      method,
      path: parts.join('/') + (query === '' ? '' : `?${query}`),
      headers: { 'x-api-key': key, ...(sent.type === null ? {} : { 'content-type': sent.type }), ...headers },
      body: sent.body,
    }))
}

const NOTHING: { type: string | null; body: Buffer | null } = { type: null, body: null }

function headers(): fc.Arbitrary<Record<string, string | string[]>> {
  const header = fc
    .constantFrom(...Object.keys(HEADERS))
    .chain((name) => fc.tuple(fc.constant(name), fc.constantFrom(...(HEADERS[name] ?? []))))
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.array(header, { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)) },
  )
}

function sentBody(operation: Documented['operation']): fc.Arbitrary<{ type: string | null; body: Buffer | null }> {
  const json = fc.constant('application/json')
  const examples = Object.values(operation.requestBody?.content['application/json']?.examples ?? {})
  const valid = examples.flatMap((example) => ('value' in example ? [example.value] : []))
  const value = fc.oneof(
    fc.constantFrom(...JSON_VALUES),
    fc.jsonValue({ noUnicodeString: false }).map((any) => any as JsonValue),
  )
  const mutated = fc
    .tuple(fc.constantFrom(...valid, {}), fc.array(fc.tuple(fc.nat(), value), { maxLength: 3 }))
    .map(([good, changes]) => changes.reduce<JsonValue>((body, [place, bad]) => replaced(body, place, bad), good))
  return fc.oneof(
    { weight: 8, arbitrary: fc.record({ type: json, body: mutated.map(toBytes) }) },
    { weight: 3, arbitrary: fc.record({ type: json, body: fc.constantFrom(...BODIES, ...BYTES) }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: json, body: fc.dictionary(fc.string({ unit: 'binary' }), value).map(toBytes) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constantFrom(...CONTENT_TYPES, null),
        body: fc.constantFrom(...BODIES.slice(0, 20)),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('multipart/form-data; boundary=x'),
        body: fc.constantFrom(...FORMS, ...BYTES),
      }),
    },
    { weight: 1, arbitrary: fc.constant(NOTHING) },
  )
}

/** The value with one element, found by position, replaced. */
function replaced(value: JsonValue, place: number, bad: JsonValue): JsonValue {
  const paths: (string | number)[][] = []
  const walk = (at: JsonValue, path: (string | number)[]) => {
    paths.push(path)
    if (typeof at !== 'object' || at === null) return
    for (const [key, item] of Object.entries(at)) walk(item, [...path, Array.isArray(at) ? Number(key) : key])
  }
  walk(value, [])
  const path = paths[place % paths.length] ?? []
  if (path.length === 0) return { ...(typeof value === 'object' ? value : {}), extra: bad } as JsonValue
  const copy = structuredClone(value)
  let at = copy as Record<string | number, JsonValue>
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, JsonValue>
  at[path.at(-1) ?? ''] = bad
  return copy
}

function toBytes(value: JsonValue): Buffer {
  return Buffer.from(JSON.stringify(value) ?? 'null')
}

function percentEncode(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}
