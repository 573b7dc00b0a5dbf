import { expect } from 'vitest'
import type { Recorder } from './recorder'

/** How a failed run is not repeated: another version, or its workflow is gone. A part of test/api/openapi.test.ts. */
export async function recordAgain({ get, post, call }: Recorder, workflowId: string, runId: string): Promise<void> {
  const path = `/api/workflows/${workflowId}`
  const refused = async (body?: object) => {
    const answers = []
    for (const again of ['retry', 'rerun']) answers.push(await post(`/api/workflow/${again}/${runId}`, body))
    return answers.map(({ body }) => body.error.code)
  }
  const many = async (runIds: string[]) =>
    (await post('/api/workflow/management/retry', { workflowId, runIds, version: 'published' })).body
  expect((await get(`${path}/failures`)).body.newestOf).toBe(5_000)
  expect((await get('/api/workflows/wf_nobody/failures')).body.error.code).toBe('WORKFLOW_NOT_FOUND')
  // Its step is gone, and its input is not enough.
  const payload = { need: { type: 'string' } }
  await call('PUT', path, { payload, initialStep: 'end', steps: [{ id: 'end', type: 'end-flow' }], edges: [] })
  await post(`${path}/publish`)
  expect(await refused({ version: 'published' })).toEqual(['VERSION_MISFIT', 'VERSION_MISFIT'])

  const { retried, refused: left } = await many([runId, 'run_nobody'])
  expect([retried, left.map(({ code }: { code: string }) => code)]).toEqual([[], ['CONFLICT', 'RUN_NOT_FOUND']])

  // A run whose workflow is gone can be read but not repeated.
  await call('DELETE', path)
  expect(await refused()).toEqual(['WORKFLOW_ARCHIVED', 'WORKFLOW_ARCHIVED'])
  expect((await many([runId])).error.code).toBe('WORKFLOW_ARCHIVED')
  await call('DELETE', `${path}/permanent?terminateRuns=true`)
  expect(await refused()).toEqual(['WORKFLOW_NOT_FOUND', 'WORKFLOW_NOT_FOUND'])
  expect((await many([runId])).error.code).toBe('WORKFLOW_NOT_FOUND')
}
