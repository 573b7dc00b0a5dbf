import { expect } from 'vitest'
import type { Recorder } from './recorder'

const check = { id: 'check', type: 'condition', when: '${n} > 1' }
const end = { id: 'end', type: 'end-flow', output: { n: '${n}' } }

/** Every response of `whatIf`. A part of test/api/openapi.test.ts. */
export async function recordWhatIfs({ post, call }: Recorder): Promise<void> {
  const steps = {
    payload: { n: { type: 'integer' } },
    steps: [check, end],
    edges: [{ from: 'check', to: 'end', on: 'true' }],
  }
  const { id } = (await post('/api/workflows', { name: 'Tried', ...steps })).body
  await post(`/api/workflows/${id}/publish`)
  const { runId } = (await post(`/api/workflow/start/${id}`, { n: 2 })).body
  const tried = (body?: object, of = runId) => post(`/api/workflow/what-if/${of}`, body)
  expect((await tried()).body.verdict.is).toBe('same')
  expect((await tried({ changes: { input: { n: 1 } } })).body.verdict.is).toBe('way')
  expect((await tried({ changes: { input: [] } })).status).toBe(400)
  expect((await tried({}, 'run_nobody')).body.error.code).toBe('RUN_NOT_FOUND')
  expect((await tried({ version: 99 })).body.error.code).toBe('WORKFLOW_NOT_FOUND')
  await call('PUT', `/api/workflows/${id}`, { steps: [{ id: 'check', type: 'no-such-type' }], edges: [] })
  expect((await tried({ version: 'latest' })).body.error.code).toBe('VALIDATION_FAILED')
}
