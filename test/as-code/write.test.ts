import { describe, expect, test } from 'vitest'
import { parseDefinitions } from '@/server/as-code/parse'
import type { JsonObject } from '@/server/definition/json'
import { LARGE_BODY, readJsonBody } from '@/server/http/body'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { Dice } from '../graphs/generate'
import { mixedGraph } from '../graphs/mixed'
import { agent, http, tool, workspace } from './support'

/** A workspace's definitions after an apply. */
const contentsOf = (body: JsonObject) => parseDefinitions(body).items

/** Written and applied elsewhere, a definition stays the same and is written in the same way. */
function expectRoundTrip(body: JsonObject): void {
  for (const { kind, id, content } of contentsOf(body)) {
    const written = kind.write(content)
    const [again] = contentsOf({ [kind.plural]: [{ id, ...written }] })
    expect(again && kind.noun.same(again.content, content), JSON.stringify(written)).toBe(true)
    expect(again && JSON.stringify(kind.write(again.content))).toBe(JSON.stringify(written))
  }
}

describe('a written definition', () => {
  test('contains everything in the workspace, and is the same when applied to another', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { definition } = mixedGraph(new Dice(seed))
      const limits =
        seed % 2 === 0 ? { limits: { timeoutMs: 60_000, agents: { tokens: 100, cost: 0.5 } }, businessKey: '${a}' } : {}
      expectRoundTrip({
        workflows: [JSON.parse(JSON.stringify({ id: `wf_${seed}`, name: 'Random', ...definition, ...limits }))],
      })
    }
    const samples = SAMPLE_WORKFLOWS.map(({ id, definition }) => ({ id, ...definition }))
    expectRoundTrip(JSON.parse(JSON.stringify({ ...workspace(), workflows: samples })))
    const model = {
      provider: 'openai-compatible',
      modelId: 'm',
      baseUrl: 'https://llm.example.com/v1',
      settings: { seed: 1 },
    }
    const supervisor = {
      supervisor: true,
      handoffs: ['agt_b', { agentId: 'agt_c', version: 3 }],
      outputSchema: { type: 'object' },
    }
    expectRoundTrip({ agents: [agent({ model, ...supervisor }), { id: 'agt_bare', name: 'Bare' }] })
    const inputSchema = { type: 'object', properties: { z: { type: 'string' }, a: { type: 'string' } } }
    expectRoundTrip({
      tools: [
        { ...http, inputSchema },
        { ...tool(), outputSchema: { type: 'string' } },
      ],
    })
  })

  test('does not depend on the order in which its steps and edges were written', () => {
    const steps = [{ retry: { maxAttempts: 2 }, when: '${a} > 1', own: 1, name: 'X', type: 'condition', id: 'x' }]
    const [item] = contentsOf({
      workflows: [{ id: 'wf_x', edges: [{ to: 'x', on: 'true', from: 'x' }], steps, name: 'X' }],
    })
    expect(item && JSON.stringify(item.kind.write(item.content))).toBe(
      '{"name":"X","initialStep":"x","steps":[{"id":"x","type":"condition","name":"X","when":"${a} > 1","retry":{"maxAttempts":2},"own":1}],"edges":[{"from":"x","on":"true","to":"x"}]}',
    )
  })
})

describe('a body of definitions', () => {
  test.each([
    [
      { agents: [{ id: 'agt_x', name: 'X', model: { provider: 'scripted', modelId: 'm', setings: { seed: 1 } } }] },
      'model',
    ],
    [{ workflows: [{ id: 'wf_x', name: 'X', limits: { timeout: 1 } }] }, 'limits'],
    [{ agents: [{ id: 'agt_x', name: 'X', tools: ['tool_a', { toolId: 'tool_b', versoin: 1 }] }] }, 'tools[1]'],
    [{ tools: [{ ...tool(), config: { code: '', timeout: 1 } }] }, ''],
  ])('has no field that would be lost: %j', (body, at) => {
    expect(() => parseDefinitions(body)).toThrow(
      expect.objectContaining({ details: [expect.objectContaining(at === '' ? {} : { at })] }),
    )
  })

  test('has warnings for fields of a workflow that mean nothing, and none for others', () => {
    const steps = [
      {
        id: 'ask',
        type: 'collect-inputs',
        titel: 'x',
        retry: { backof: 'fixed', maxAttempts: 2 },
        output: { a: { type: 'string', requird: false } },
      },
    ]
    const [item] = contentsOf({
      workflows: [
        {
          id: 'wf_x',
          name: 'X',
          payload: { b: { type: 'string', lable: 'B' } },
          steps,
          edges: [{ from: 'ask', to: 'ask', onn: 'x' }],
        },
      ],
    })
    const places = item?.kind.unknownFields(item.content).map(({ stepId = '', field }) => `${stepId} ${field}`)
    expect(places).toEqual([
      ' payload.b.lable',
      'ask titel',
      'ask retry.backof',
      'ask output.a.requird',
      ' edges[0].onn',
    ])
    const samples = SAMPLE_WORKFLOWS.map(({ id, definition }) => ({ id, ...definition }))
    const all = contentsOf(JSON.parse(JSON.stringify({ ...workspace(), workflows: samples })))
    expect(all.flatMap(({ kind, content }) => kind.unknownFields(content))).toEqual([])
  })

  const request = (body: object) =>
    new Request('http://localhost', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, { type: 'string' }]))

  test('may contain many, but each must be within the limits of a single save', async () => {
    const fields = { workflows: [1, 2, 3, 4].map((n) => ({ id: `wf_${n}`, name: 'Many', payload: many(4_000) })) }
    expect(parseDefinitions(await readJsonBody(request(fields), LARGE_BODY)).items.length).toBe(4)
    await expect(readJsonBody(request(fields))).rejects.toThrow('Invalid input')
    const tooMany = { workflows: [{ id: 'wf_1', name: 'Many', payload: many(6_000) }] }
    expect(() => parseDefinitions(tooMany)).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ id: 'wf_1', path: 'workflows[0]' })] }),
    )
    const text = { tools: [{ ...tool('x'.repeat(1024 * 1024)) }] }
    expect(() => parseDefinitions(text)).toThrow('Invalid input')
  })
})
