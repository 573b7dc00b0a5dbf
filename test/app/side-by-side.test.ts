import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { schemaDifferences } from '@/app/(dashboard)/[tenant]/_versioned/schema-differences'
import { agentDifferences } from '@/app/(dashboard)/[tenant]/agents/[agentId]/agent-differences'
import type { AgentForm } from '@/app/(dashboard)/[tenant]/agents/[agentId]/agent-form'
import { toolDifferences } from '@/app/(dashboard)/[tenant]/tools/[toolId]/tool-differences'
import type { ToolForm } from '@/app/(dashboard)/[tenant]/tools/[toolId]/tool-form'
import type { JsonObject } from '@/server/definition/json'

const AGENT: AgentForm = {
  name: 'Helper',
  description: '',
  instructions: 'Be brief.',
  model: { provider: 'openai', modelId: 'gpt', settings: { temperature: 0.2 } },
  fallbacks: [],
  limits: {},
  tools: [{ toolId: 'tool_a', version: 'published' }],
  outputSchema: null,
  supervisor: false,
  handoffs: [],
}
const TOOL: ToolForm = {
  name: 'Stock',
  description: 'Looks it up',
  kind: 'http',
  config: { method: 'GET', url: 'https://a.example.com', headers: { Accept: 'a' }, timeoutMs: 5000 },
  inputSchema: null,
  outputSchema: null,
}
const nameOf = (id: string) => ({ tool_a: 'Stock', tool_b: 'Refund' })[id] ?? id
const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
})

describe('two versions of an agent', () => {
  test('have only the fields that differ, with the labels of the form and tools by name', () => {
    const now: AgentForm = {
      ...AGENT,
      instructions: 'Be brief and kind.',
      model: { ...AGENT.model, modelId: 'gpt-2', settings: { topP: 0.5 }, prices: 'list' },
      limits: { day: { cost: 20 }, at: { ask: ['role:admin'] } },
      tools: [
        { toolId: 'tool_a', version: 3, approval: 'always' },
        { toolId: 'tool_b', version: 'latest' },
      ],
    }
    expect(agentDifferences(AGENT, now, nameOf)).toEqual([
      { as: 'text', label: 'Instructions', before: 'Be brief.', now: 'Be brief and kind.' },
      { as: 'value', label: 'Model', before: 'gpt', now: 'gpt-2' },
      { as: 'value', label: 'Temperature', before: '0.2', now: 'The provider’s own' },
      { as: 'value', label: 'Top P', before: 'The provider’s own', now: '0.5' },
      { as: 'value', label: 'Price', before: 'Not counted', now: 'List price' },
      { as: 'value', label: 'US dollars a day', before: 'No limit', now: '20' },
      { as: 'value', label: 'At a limit', before: 'Fail', now: 'Ask role:admin' },
      {
        as: 'uses',
        label: 'Tools',
        rows: [
          {
            name: 'Stock',
            kind: 'changed',
            before: 'The published version, without approval',
            now: 'Version 3, always needs approval',
          },
          { name: 'Refund', kind: 'added', before: null, now: 'The latest version, without approval' },
        ],
      },
    ])
  })

  test('differ in something exactly if their JSON does', () => {
    const changes = fc.record<Partial<AgentForm>>(
      {
        description: fc.constantFrom('', 'x'),
        model: fc.record({
          provider: fc.constantFrom('openai', 'google'),
          modelId: fc.constantFrom('gpt', 'x'),
          settings: fc.constantFrom({}, { seed: 1 }, { presencePenalty: 1 }, { stopSequences: ['a'] }),
        }),
        limits: fc.constantFrom({}, { turn: { calls: 3 } }, { subjectDay: { tokens: 1 } }, { at: { ask: ['user:a'] } }),
        fallbacks: fc.constantFrom([], [AGENT.model], [AGENT.model, { ...AGENT.model, modelId: 'b' }]),
        tools: fc.constantFrom([], AGENT.tools, [{ toolId: 'tool_a', version: 1 }]),
        outputSchema: fc.constantFrom(null, object({ a: { type: 'string' } })),
        supervisor: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(changes, changes, (one, other) => {
        const [before, now] = [
          { ...AGENT, ...one },
          { ...AGENT, ...other },
        ]
        const same = JSON.stringify(before) === JSON.stringify(now)
        expect(agentDifferences(before, now, nameOf).length === 0).toBe(same)
      }),
    )
  })
})

describe('two versions of a tool', () => {
  test('have headers by name, and code and templates as text', () => {
    const script = (code: string): ToolForm => ({ ...TOOL, kind: 'script', config: { code } })
    const code = { as: 'code', label: 'Code', before: 'return 1', now: 'return 2' }
    expect(toolDifferences(script('return 1'), script('return 2'))).toEqual([code])
    const headers = { Accept: 'b', 'X-Key': '${secrets.KEY}' }
    const now = { ...TOOL, config: { ...TOOL.config, headers, timeoutMs: 10_000, body: { a: 1 }, bodyType: 'json' } }
    expect(toolDifferences(TOOL, now)).toEqual([
      { as: 'value', label: 'Body', before: 'None', now: 'json' },
      { as: 'value', label: 'Header Accept', before: 'a', now: 'b' },
      { as: 'value', label: 'Header X-Key', before: 'None', now: '${secrets.KEY}' },
      { as: 'value', label: 'Time limit', before: '5 seconds', now: '10 seconds' },
      { as: 'text', label: 'Body template', before: '', now: '{\n  "a": 1\n}' },
    ])
  })
})

describe('two schemas', () => {
  const before = object(
    { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'string', enum: ['x', 'y'] }, old: { type: 'string' } },
    ['a'],
  )
  const now = object(
    {
      a: { type: 'number' },
      b: { type: 'integer', minimum: 1 },
      c: { type: 'string', enum: ['x', 'z'] },
      n: { type: 'string' },
    },
    ['a', 'b', 'n'],
  )

  test('of an input say what breaks for those who send the values', () => {
    expect(schemaDifferences(before, now, 'input')?.map(({ path, breaking }) => `${path}: ${breaking}`)).toEqual([
      'a: Callers that send a as string fail; it must be number now.',
      'b: Callers that do not send b fail.',
      'n: Callers that do not send n fail.',
      'c: Callers that send a c which is no longer allowed fail.',
      'old: What callers send as old no longer reaches the tool.',
    ])
  })

  test('of an output say what breaks for those who read the values', () => {
    expect(schemaDifferences(before, now, 'output')?.map(({ path, breaking }) => `${path}: ${breaking}`)).toEqual([
      'a: Callers that read a as string get number now.',
      'b: null',
      'n: null',
      'c: Callers that read c may get a value that was not possible before.',
      'old: Callers that read old no longer get it.',
    ])
  })

  test('have fields of lists and objects by their path; those of an object that came or went say nothing more', () => {
    const item = (properties: JsonObject) => ({ type: 'array', items: object(properties) })
    const rows = schemaDifferences(
      object({ items: item({ price: { type: 'number' } }), gone: object({ x: { type: 'string' } }) }),
      object({ items: item({ price: { type: 'string' } }) }),
      'output',
    )
    expect(rows?.map(({ path, before, now }) => [path, before, now])).toEqual([
      ['items[].price', 'number, optional', 'text, optional'],
      ['gone', 'object, optional', null],
    ])
  })

  test('that a table cannot express are left to the JSON, and so is what has no field', () => {
    expect(schemaDifferences({ anyOf: [] }, before, 'input')).toBeNull()
    expect(schemaDifferences(before, { ...before, additionalProperties: false }, 'input')).toEqual([
      {
        path: 'All fields',
        kind: 'changed',
        before: '{}',
        now: '{"additionalProperties":false}',
        breaking: 'Callers may fail: the JSON shows how it differs.',
      },
    ])
    expect(schemaDifferences(before, before, 'input')).toEqual([])
  })
})
