import type { JsonObject, JsonValue } from '@/server/definition/json'

// Definitions near the limits of a save, each expensive for some operation on definitions.

function times<T>(n: number, make: (n: number) => T): T[] {
  return Array.from({ length: n }, (_, at) => make(at))
}

function fields<T extends JsonValue>(n: number, name: (n: number) => string, value: (n: number) => T): JsonObject {
  return Object.fromEntries(times(n, (at) => [name(at), value(at)]))
}

/** Steps one after the other. */
function chain(steps: JsonObject[]): { steps: JsonObject[]; edges: JsonObject[] } {
  const all = [...steps, { id: 'end', type: 'end-flow' }]
  return { steps: all, edges: all.slice(1).map(({ id = '' }, n) => ({ from: all[n]?.id ?? '', to: id })) }
}

const ANY: JsonObject = { type: 'any', required: false }
const wide = (n: number) => `(?i)${'[\\\\w\\\\p{L}\\\\p{N}]{40}'.repeat(20)}${n}`

/** Schemas that are expensive to compile, to check and to fill in. */
export const SCHEMAS: Record<string, JsonObject> = {
  'of 60 wide patterns': {
    type: 'object',
    required: times(60, (n) => `p${n}`),
    properties: fields(
      60,
      (n) => `p${n}`,
      (n) => ({ type: 'string', pattern: wide(n).replaceAll('\\\\', '\\') }),
    ),
  },
  'of nested lists': {
    type: 'object',
    required: ['list'],
    properties: { list: nested(3) },
  },
  'of many properties': {
    type: 'object',
    properties: fields(
      2_500,
      (n) => `property_${n}`,
      (n) => ({ type: 'string', minLength: n % 7 }),
    ),
  },
  'of a long text': {
    type: 'object',
    required: ['text'],
    properties: { text: { type: 'string', minLength: 500_000_000 } },
  },
  'of alternatives in alternatives': { type: 'object', properties: { a: alternatives(7) } },
  'that names itself': {
    $defs: {
      node: {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { $ref: '#/$defs/node' }, b: { $ref: '#/$defs/node' } },
      },
    },
    $ref: '#/$defs/node',
  },
}

function nested(levels: number): JsonObject {
  return levels === 0 ? { type: 'string', minLength: 1 } : { type: 'array', minItems: 1_000, items: nested(levels - 1) }
}

function alternatives(levels: number): JsonObject {
  if (levels === 0) return { type: 'string' }
  return {
    anyOf: times(3, (n) => ({
      type: 'object',
      required: [`k${n}`],
      properties: { [`k${n}`]: alternatives(levels - 1) },
    })),
  }
}

/** Without a name, which every save needs. */
export const WORKFLOWS: Record<string, () => JsonObject> = {
  '2,500 START fields and references to names that nearly exist': () => ({
    payload: fields(
      2_500,
      (n) => `customer_address_line_${n}`,
      () => ANY,
    ),
    ...chain(
      times(40, (n) => ({
        id: `step_${n}`,
        type: 'set-data',
        values: fields(
          20,
          (at) => `v${at}`,
          (at) => `\${custumer_adress_lime_${n * 20 + at}}`,
        ),
      })),
    ),
  }),
  'long names that nearly exist': () => ({
    payload: fields(
      1_500,
      (n) => `${'ab'.repeat(45)}_${n}`,
      () => ANY,
    ),
    ...chain(
      times(60, (n) => ({
        id: `step_${n}`,
        type: 'set-data',
        values: fields(
          20,
          (at) => `v${at}`,
          (at) => `\${${'ba'.repeat(45)}_${n * 20 + at}}`,
        ),
      })),
    ),
  }),
  'steps whose ids nearly exist': () => {
    const { steps } = chain(times(1_100, (n) => ({ id: `approve_the_order_${n}`, type: 'set-data', values: {} })))
    return { steps, edges: times(1_100, (n) => ({ from: `approve_the_order_${n}`, to: `aprove_the_ordre_${n}` })) }
  },
  'wide patterns': () => ({
    payload: { text: ANY },
    ...chain(
      times(30, (n) => ({
        id: `step_${n}`,
        type: 'set-data',
        values: fields(
          10,
          (at) => `v${at}`,
          (at) => `\${matches(text ?? "", "${wide(n * 10 + at)}")}`,
        ),
      })),
    ),
  }),
  'a long chain where every step refers to all before it': () => ({
    payload: { a: ANY },
    ...chain(
      times(1_100, (n) => ({
        id: `step_${n}`,
        type: 'set-data',
        values: { [`v${n}`]: `\${v${n >> 1}} \${step_${n >> 2}.v}` },
      })),
    ),
  }),
  'a ladder of conditions': () => {
    const rungs = times(700, (n) => ({ id: `if_${n}`, type: 'condition', condition: `\${a == ${n}}` }))
    return {
      payload: { a: ANY },
      steps: [...rungs, { id: 'end', type: 'end-flow', output: { a: '${a}' } }],
      edges: rungs.flatMap(({ id }, n) => {
        const to = rungs[n + 1]?.id ?? 'end'
        return [
          { from: id, to, on: 'true' },
          { from: id, to: rungs[n + 2]?.id ?? 'end', on: 'false' },
        ]
      }),
    }
  },
  'steps that set different fields on many ways': () => {
    const rungs = times(250, (n) => n)
    return {
      payload: { a: ANY },
      steps: [
        ...rungs.flatMap((n) => [
          { id: `if_${n}`, type: 'condition', condition: '${a == 1}' },
          { id: `yes_${n}`, type: 'set-data', values: { [`f${n}`]: { deep: [n, `\${f${n - 1}.deep ?? 0}`] } } },
          { id: `no_${n}`, type: 'set-data', values: { [`f${n}`]: `\${f${n - 1} ?? "x"}` } },
        ]),
        { id: 'end', type: 'end-flow' },
      ],
      edges: rungs.flatMap((n) => {
        const next = n === 249 ? 'end' : `if_${n + 1}`
        return [
          { from: `if_${n}`, to: `yes_${n}`, on: 'true' },
          { from: `if_${n}`, to: `no_${n}`, on: 'false' },
          { from: `yes_${n}`, to: next },
          { from: `no_${n}`, to: next },
        ]
      }),
    }
  },
  'steps that all lead to each other': () => {
    const ids = times(45, (n) => `step_${n}`)
    return {
      steps: [...ids.map((id) => ({ id, type: 'condition', condition: '${a == 1}' })), { id: 'end', type: 'end-flow' }],
      edges: ids.flatMap((from, n) =>
        times(45, (at) => ({ from, to: ids[(n + at + 1) % 45] ?? 'end', on: at % 2 ? 'true' : 'false' })),
      ),
    }
  },
  'a text of many references': () => ({
    payload: { a: ANY },
    ...chain([{ id: 'one', type: 'set-data', values: { text: '${a.b.c.d ?? "x"} '.repeat(50_000) } }]),
  }),
  'texts of near misses': () => ({
    payload: fields(
      1_000,
      (n) => `customer_${n}`,
      () => ANY,
    ),
    ...chain([{ id: 'one', type: 'set-data', values: { text: times(30_000, (n) => `\${custmer_${n}}`).join(' ') } }]),
  }),
  'a list of values': () => ({
    ...chain([{ id: 'one', type: 'set-data', values: { list: times(44_000, (n) => n) } }]),
  }),
  'a list of expressions': () => ({
    payload: { a: ANY },
    ...chain([{ id: 'one', type: 'set-data', values: { list: times(20_000, (n) => `\${a + ${n}}`) } }]),
  }),
  doublings: () => ({
    ...chain(
      times(40, (n) => ({
        id: `step_${n}`,
        type: 'set-data',
        values: { text: n === 0 ? 'x'.repeat(1_000) : '${text}${text}' },
      })),
    ),
  }),
  'lists of lists': () => ({
    payload: { a: ANY },
    ...chain(
      times(17, (n) => ({ id: `step_${n}`, type: 'set-data', values: { l: n === 0 ? [1, 2] : ['${l}', '${l}'] } })),
    ),
  }),
  options: () => ({
    payload: fields(
      40,
      (n) => `f${n}`,
      () => ({ type: 'string', required: false, options: times(1_000, (n) => `option ${n}`) }),
    ),
    ...chain([]),
  }),
  'a markdown message': () => ({
    ...chain([
      ...times(8, (n) => ({
        id: `ask_${n}`,
        type: 'request-user-action',
        title: '[a]('.repeat(40),
        message: ['[a](', '*a **b ', '> ', '`` ` ', '- ', '![](', '|a', '<'][n]?.repeat(14_000) ?? '',
        actions: [{ id: 'ok', label: 'OK' }],
      })),
    ]),
  }),
  'dead ends': () => ({
    steps: times(1_500, (n) => ({ id: `step_${n}`, type: n % 3 ? 'wait-for-eventt' : 'set-dta', vlues: {} })),
    edges: [],
  }),
}

/** Without a name, as before. */
export const TOOLS: Record<string, () => JsonObject> = {
  ...Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      `a schema ${name}`,
      () => ({ kind: 'script', config: { code: 'return args' }, inputSchema: schema, outputSchema: schema }),
    ]),
  ),
  'a template of many references': () => ({
    kind: 'http',
    config: {
      method: 'POST',
      url: 'https://example.com/${args.a}',
      headers: {},
      body: { text: '${args.a.b ?? "x"} '.repeat(40_000) },
    },
  }),
  'a long script': () => ({ kind: 'script', config: { code: `return ${'['.repeat(400_000)}` } }),
}

export const AGENTS: Record<string, () => JsonObject> = {
  ...Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      `a schema ${name}`,
      () => ({ instructions: 'Answer.', outputSchema: schema }),
    ]),
  ),
  'long instructions': () => ({ instructions: '${a.b ?? "x"} '.repeat(6_600) }),
}
