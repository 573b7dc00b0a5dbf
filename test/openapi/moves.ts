import { expect } from 'vitest'
import type { Recorder } from './recorder'

const ASK = { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } }

/** Every response of moves. A part of test/api/openapi.test.ts. */
export async function recordMoves({ get, post, call }: Recorder): Promise<void> {
  const { id: workflowId } = (await post('/api/workflows', { name: 'Moved', steps: [ASK] })).body
  const path = `/api/workflows/${workflowId}`
  await post(`${path}/publish`)
  const { runId } = (await post(`/api/workflow/start/${workflowId}`)).body
  await call('PUT', path, { steps: [{ ...ASK, title: 'Again' }] })
  const toVersion = (await post(`${path}/publish`)).body.version
  const move = (more: object = {}) =>
    post('/api/workflow/management/move', { workflowId, toVersion, runIds: [runId], ...more })

  expect((await get(`${path}/open-runs?to=${toVersion}`)).body.runs).toMatchObject([{ runId, verdict: 'asks_again' }])
  expect((await get(`${path}/open-runs?to=0`)).status).toBe(400)
  expect((await get(`${path}/open-runs?to=999`)).status).toBe(404)
  expect((await move()).body.refused).toMatchObject([{ runId, code: 'MOVE_REFUSED', verdict: 'asks_again' }])
  expect((await move({ asksAgain: true })).body.moved).toEqual([{ runId, verdict: 'asks_again' }])
  expect((await get(`/api/workflow/status/${runId}`)).body.moves).toMatchObject([{ toVersion }])
  expect((await move({ toVersion: 0 })).status).toBe(400)
  expect((await move({ toVersion: 999 })).status).toBe(404)
  await call('DELETE', path)
  expect((await move()).body.error.code).toBe('WORKFLOW_ARCHIVED')
  expect((await get(`${path}/open-runs?to=${toVersion}`)).status).toBe(409)
}
