import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { log } from '@/server/log'
import type { Role } from '@/server/roles'
import { type Answer, type Api, call, startApi } from '../support/api'

let api: Api
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const ORDER = {
  name: 'Order',
  description: 'Asks',
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { item: { type: 'string' } } },
    { id: 'end', type: 'end-flow', output: { item: '${item}' } },
  ],
  edges: [{ from: 'ask', to: 'end' }],
}

async function made(body: object = ORDER): Promise<{ id: string; path: string }> {
  const { body: workflow } = await api.call('POST', '/api/workflows', body)
  return { id: workflow.id, path: `/api/workflows/${workflow.id}` }
}

/** Calls with a credential of another role. */
async function callerAs(role: Role) {
  const ctx = systemContext({ tenantId: api.tenantId, db: api.database.db, log: log() })
  const { key } = await createApiKey(ctx, { name: role, role })
  return (method: string, path: string, body?: unknown) => call({ ...api, apiKey: key }, method, path, body)
}

const refusal = ({ status, body }: Answer) => [status, body.error?.code]

describe('POST /api/workflows', () => {
  test('returns 201 with the whole definition, its location and its ETag', async () => {
    const answer = await api.call('POST', '/api/workflows', { name: 'Bare' })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      name: 'Bare',
      description: '',
      status: 'draft',
      initialStep: null,
      steps: [],
      edges: [],
      payload: {},
      version: 1,
      publishedVersion: null,
    })
    expect(answer.headers.get('location')).toBe(`/api/workflows/${answer.body.id}`)
    expect(answer.headers.get('etag')).toBe('"1"')
  })
})

describe('GET /api/workflows/:id', () => {
  test('returns the last saved definition, archived or not', async () => {
    const { path } = await made()
    const before = await api.call('GET', path)
    expect(before.body).toMatchObject({ ...ORDER, initialStep: 'ask', status: 'draft' })
    await api.call('DELETE', path)
    expect((await api.call('GET', path)).body).toMatchObject({ ...ORDER, status: 'archived' })
  })

  test.each(['wf_missing', '%00', '%EF%BF%BD', 'a%2Fb', 'x'.repeat(3000), '__proto__'])(
    'an id like %j is not found',
    async (id) => {
      const answer = await api.call('GET', `/api/workflows/${id}`)
      expect(refusal(answer)).toEqual([404, 'WORKFLOW_NOT_FOUND'])
      expect(answer.body.error).toEqual({ message: 'Workflow not found', code: 'WORKFLOW_NOT_FOUND', details: [] })
    },
  )

  test('a URL longer than clients can be redirected to is refused', async () => {
    for (const path of [`/api/workflows/${'a'.repeat(8_200)}/`, `/api/workflows?search=${'a'.repeat(15_000)}`]) {
      const answer = await api.call('GET', path)
      expect(refusal(answer)).toEqual([400, 'INVALID_INPUT'])
      expect(answer.body.error.details).toEqual([{ path: 'url', message: 'The URL is longer than 8,192 characters.' }])
    }
  })

  test.each(['%ED%A0%80', '%ff', '%ZZ', '%'])('a path with %j is refused in the one error shape', async (id) => {
    for (const path of [`/api/workflows/${id}`, `/api/workflows/wf_hello/versions/${id}`]) {
      const answer = await api.call('GET', path)
      expect(refusal(answer)).toEqual([400, 'INVALID_INPUT'])
      expect(answer.body).toMatchObject({ success: false, requestId: answer.headers.get('x-request-id') })
    }
  })
})

describe('PUT /api/workflows/:id', () => {
  test('merges at the top level and returns the whole definition', async () => {
    const { path } = await made()
    const { status, body, headers } = await api.call('PUT', path, { name: 'Renamed', edges: [] })
    expect([status, headers.get('etag')]).toEqual([200, '"2"'])
    expect(body).toMatchObject({ ...ORDER, name: 'Renamed', edges: [], version: 2 })
    expect((await api.call('GET', path)).body).toEqual(body)
  })

  test('the answer of a GET can be sent back and changes nothing', async () => {
    const { path } = await made()
    const { body } = await api.call('GET', path)
    expect(await api.call('PUT', path, body)).toMatchObject({ status: 200, body })
    expect(await api.call('PUT', path)).toMatchObject({ status: 200, body })
  })

  test('of saves with the same If-Match, exactly one succeeds; the others get the current version', async () => {
    const { path } = await made()
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => api.call('PUT', path, { name: `n${n}` }, { headers: { 'if-match': '"1"' } })),
    )
    const [winner, ...losers] = answers.toSorted((a, b) => a.status - b.status)
    expect(winner).toMatchObject({ status: 200, body: { version: 2 } })
    for (const loser of losers) {
      expect(refusal(loser)).toEqual([409, 'VERSION_CONFLICT'])
      expect(loser.body.error.details[0].currentVersion).toBe(2)
    }
    expect((await api.call('GET', path)).body.name).toBe(winner?.body.name)
    expect(refusal(await api.call('PUT', path, { name: 'late', version: 1 }))).toEqual([409, 'VERSION_CONFLICT'])
  })

  test.each([['[]'], ['{'], ['"text"'], ['{"name":"a\\u0000b"}'], ['{"name":"\\ud800"}'], ['{"version":"1"}']])(
    '%s is invalid input',
    async (body) => {
      const { path } = await made()
      expect(refusal(await api.call('PUT', path, body))).toEqual([400, 'INVALID_INPUT'])
    },
  )
})

describe('DELETE /api/workflows/:id', () => {
  test('archives; a repeat does nothing', async () => {
    const { path } = await made()
    const first = await api.call('DELETE', path)
    expect(first).toMatchObject({ status: 200, body: { ...ORDER, status: 'archived' } })
    expect((await api.call('DELETE', path)).body).toEqual(first.body)
    expect(refusal(await api.call('PUT', path, { name: 'x' }))).toEqual([409, 'WORKFLOW_ARCHIVED'])
    expect(refusal(await api.call('POST', `${path}/publish`))).toEqual([409, 'WORKFLOW_ARCHIVED'])
  })

  test('open runs continue to their end', async () => {
    const { id, path } = await made()
    const { body } = await api.call('POST', `/api/workflow/start-async/${id}`, {})
    await api.call('DELETE', path)
    expect(refusal(await api.call('POST', `/api/workflow/start-async/${id}`, {}))).toEqual([409, 'WORKFLOW_ARCHIVED'])
    await until(body.runId, 'paused')
    await api.call('POST', `/api/workflow/resume/${body.runId}`, { type: 'collect_inputs', data: { item: 'tea' } })
    expect((await until(body.runId, 'completed')).body.result).toEqual({ item: 'tea' })
  })
})

async function until(runId: string, status: string): Promise<Answer> {
  for (;;) {
    const answer = await api.call('GET', `/api/workflow/status/${runId}`)
    if (answer.body.status === status) return answer
    if (answer.body.status === 'failed') throw new Error(JSON.stringify(answer.body))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe('POST /api/workflows/:id/unarchive', () => {
  test('restores the workflow as a draft that runs the published version', async () => {
    const { id, path } = await made()
    await api.call('POST', `${path}/publish`)
    await api.call('DELETE', path)
    const back = await api.call('POST', `${path}/unarchive`)
    expect(back).toMatchObject({ status: 200, body: { status: 'draft', publishedVersion: 1, archivedAt: null } })
    expect((await api.call('POST', `${path}/unarchive`)).body).toEqual(back.body)
    expect(await api.call('POST', `/api/workflow/start-async/${id}`, {})).toHaveProperty('status', 200)
  })
})

describe('POST /api/workflows/:id/publish', () => {
  test('lists every problem with its step and field', async () => {
    const { path } = await made({
      name: 'Broken',
      steps: [{ id: 'a', type: 'made-up' }],
      edges: [{ from: 'a', to: 'b' }],
    })
    const answer = await api.call('POST', `${path}/publish`)
    expect(refusal(answer)).toEqual([400, 'VALIDATION_FAILED'])
    expect(answer.body.error.details).toMatchObject([
      { code: 'UNKNOWN_STEP_TYPE', stepId: 'a', field: 'type' },
      { code: 'DANGLING_EDGE', stepId: 'a', field: 'edges[0].to' },
    ])
  })

  test('a published workflow stays published while it is edited, and keeps running the published version', async () => {
    const { id, path } = await made()
    expect((await api.call('POST', `${path}/publish`)).body).toMatchObject({ status: 'published', publishedVersion: 1 })
    const { body } = await api.call('PUT', path, { steps: [], edges: [] })
    expect(body).toMatchObject({ status: 'published', version: 2, publishedVersion: 1, hasUnpublishedChanges: true })
    const started = await api.call('POST', `/api/workflow/start-async/${id}`, {})
    expect((await api.call('GET', `/api/workflow/status/${started.body.runId}`)).body.workflowVersion).toBe(1)
  })
})

describe('POST /api/workflows/:id/clone', () => {
  test('returns 201 with a separate draft', async () => {
    const { id, path } = await made()
    const { status, body, headers } = await api.call('POST', `${path}/clone`)
    expect(status).toBe(201)
    expect(body).toMatchObject({ ...ORDER, name: 'Order (Copy)', status: 'draft', version: 1 })
    expect(body.id).not.toBe(id)
    expect(headers.get('location')).toBe(`/api/workflows/${body.id}`)
    expect((await api.call('POST', `/api/workflows/${body.id}/clone`)).body.name).toBe('Order (Copy) (Copy)')
  })
})

describe('DELETE /api/workflows/:id/permanent', () => {
  test('removes an archived workflow, and ends its open runs only on request', async () => {
    const { id, path } = await made()
    const { body } = await api.call('POST', `/api/workflow/start-async/${id}`, {})
    await until(body.runId, 'paused')
    expect(refusal(await api.call('DELETE', `${path}/permanent`))).toEqual([409, 'WORKFLOW_NOT_ARCHIVED'])
    await api.call('DELETE', path)
    expect(refusal(await api.call('DELETE', `${path}/permanent`))).toEqual([409, 'CONFLICT'])
    expect(refusal(await api.call('DELETE', `${path}/permanent?terminateRuns=1`))).toEqual([400, 'INVALID_INPUT'])
    const deleted = await api.call('DELETE', `${path}/permanent?terminateRuns=true`)
    expect(deleted).toMatchObject({ status: 200, body: { id, deleted: true } })
    expect(Object.keys(deleted.body).sort()).toEqual(['deleted', 'id'])
    expect(refusal(await api.call('GET', path))).toEqual([404, 'WORKFLOW_NOT_FOUND'])
    const run = await api.call('GET', `/api/workflow/status/${body.runId}`)
    expect(run.body).toMatchObject({
      workflowName: 'Order',
      status: 'failed',
      outcome: 'terminated',
      pauseSignal: null,
    })
  })

  test('is for owners only; editors may do everything else', async () => {
    const { path } = await made()
    const admin = await callerAs('admin')
    const editor = await callerAs('editor')
    const operator = await callerAs('operator')
    for (const [method, suffix] of [
      ['PUT', ''],
      ['POST', '/publish'],
      ['POST', '/versions/1/restore'],
      ['DELETE', ''],
      ['POST', '/unarchive'],
      ['POST', '/clone'],
    ] as const) {
      expect(refusal(await operator(method, path + suffix))).toEqual([403, 'FORBIDDEN'])
      expect((await editor(method, path + suffix)).status).toBeLessThan(300)
    }
    await api.call('DELETE', path)
    expect(refusal(await admin('DELETE', `${path}/permanent`))).toEqual([403, 'FORBIDDEN'])
    expect((await api.call('DELETE', `${path}/permanent`)).status).toBe(200)
  })
})
