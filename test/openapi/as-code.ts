import { expect } from 'vitest'
import type { Recorder } from './recorder'

/** Every response of definitions. A part of test/api/openapi.test.ts. */
export async function recordDefinitions({ get, post, call }: Recorder): Promise<void> {
  const steps = [{ id: 'clean', type: 'call-tool', toolId: 'tool_recorded', args: {} }]
  const body = {
    tools: [{ id: 'tool_recorded', name: 'Recorded', kind: 'script', config: { code: 'return 1' } }],
    agents: [{ id: 'agt_recorded', name: 'Recorded', tools: ['tool_recorded'] }],
    workflows: [{ id: 'wf_recorded', name: 'Recorded', steps }],
    publish: true,
  }
  const diff = (await post('/api/definitions/diff', body)).body
  expect(diff.changes.map(({ actions }: { actions: string[] }) => actions)).toHaveLength(3)
  expect((await post('/api/definitions/backtest', body)).body.untried).toMatchObject([{ why: 'new' }])
  const key = { headers: { 'idempotency-key': crypto.randomUUID() } }
  for (let times = 0; times < 2; times++)
    expect((await post('/api/definitions/apply', body, key)).body.unchanged).toBe(0)
  await get('/api/definitions')
  const { body: tools } = await get('/api/definitions?kind=tools&after=tools/tool_r')
  expect(tools.tools[0].id).toBe('tool_recorded')

  const broken = { ...body, workflows: [{ ...body.workflows[0], edges: [{ from: 'clean', to: 'nowhere' }] }] }
  expect((await post('/api/definitions/apply', broken)).body.error.code).toBe('VALIDATION_FAILED')
  expect((await post('/api/definitions/backtest', broken)).body.error.code).toBe('VALIDATION_FAILED')
  await post('/api/definitions/backtest', { ...broken, publish: false })
  const withEnd = [...steps, { id: 'end', type: 'end-flow' }]
  const changed = [{ ...body.workflows[0], steps: withEnd, edges: [{ from: 'clean', to: 'end' }] }]
  expect((await post('/api/definitions/backtest', { ...body, workflows: changed })).body.workflows).toHaveLength(1)
  await call('PUT', '/api/tools/tool_recorded', { name: 'By hand' })
  expect((await post('/api/definitions/apply', body)).body.error.code).toBe('DEFINITIONS_DRIFTED')
  const { drift, problems } = (await post('/api/definitions/diff', broken)).body
  expect([drift.length, problems[0].code]).toEqual([1, 'DANGLING_EDGE'])
}
