import { expect } from 'vitest'
import type { Recorder } from './recorder'
import { checkerOf } from './validate'

/** Every answer of chat, of threads and of usage. A part of test/api/openapi.test.ts. */
export async function recordChat({ get, post, form, document }: Recorder): Promise<void> {
  const agentId = (await post('/api/agents', { name: 'Speaks' })).body.id
  const body = { agentId, message: 'Hello' }
  const json = { headers: { accept: 'application/json' } }
  const { threadId } = (await post('/api/chat', body, json)).body
  await post('/api/chat', { ...body, message: 'use tool_add {"a":1,"b":2}', threadId }, json)
  const threads = `/api/agents/${agentId}/threads`
  expect((await get(`${threads}?limit=1`)).body.threads).toMatchObject([{ id: threadId, title: 'Hello' }])
  const { turns, nextCursor } = (await get(`${threads}/${threadId}?limit=1`)).body
  expect(turns).toHaveLength(1)
  expect((await get(`${threads}/${threadId}?cursor=${nextCursor}`)).body.turns).toMatchObject([{ message: 'Hello' }])
  const events = (await post('/api/chat', body)).body as string
  expect(eventProblems({ document }, 'ChatEvent', events)).toEqual([])
  const last = [...events.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
  expect((await post('/api/chat', body, { headers: { 'last-event-id': last } })).status).toBe(204)
  expect((await post('/api/chat', { agentId })).body.error.code).toBe('MESSAGE_REQUIRED')
  const orders = (await post('/api/agents', { name: 'Orders', outputSchema: { type: 'object' } })).body.id
  const sse = { accept: 'text/event-stream' }
  const say = { message: 'Hello' }
  const streamed = (await post(`/api/agents/${orders}/invoke`, say, { headers: sse })).body as string
  expect(eventProblems({ document }, 'AnswerEvent', streamed)).toEqual([])
  const end = { ...sse, 'last-event-id': [...streamed.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '' }
  expect((await post(`/api/agents/${orders}/invoke`, say, { headers: end })).status).toBe(204)
  const limited = { name: 'Limited', outputSchema: { type: 'object' }, limits: { call: { tokens: 1 } } }
  const { id } = (await post('/api/agents', limited)).body
  const said = { message: 'Hello' }
  expect((await post('/api/chat', { ...said, agentId: id }, json)).body.error.code).toBe('BUDGET_EXCEEDED')
  expect((await post(`/api/agents/${id}/invoke`, said)).body.error.code).toBe('BUDGET_EXCEEDED')
  const archive = (await form('/api/files', 'PK\u0003\u0004')).body.fileId
  const codes = { [archive]: 'FILE_NOT_SUPPORTED', x: 'FILE_NOT_FOUND' }
  for (const [fileId, code] of Object.entries(codes)) {
    const asked = { ...said, files: [{ fileId }] }
    expect((await post('/api/chat', { ...asked, agentId }, json)).body.error.code).toBe(code)
    expect((await post(`/api/agents/${orders}/invoke`, asked)).body.error.code).toBe(code)
  }
  for (const by of ['day', 'agent', 'subject']) await get(`/api/usage?by=${by}`)
  expect((await post('/api/chat', { ...body, threadId: 'thr_nobody' })).body.error.code).toBe('THREAD_NOT_FOUND')
}

/** Differences between a stream's events and the document. */
export function eventProblems({ document }: Pick<Recorder, 'document'>, name: string, stream: string): string[] {
  const check = checkerOf(document, { closed: true })
  const events = [...stream.matchAll(/^id: (.*)\nevent: (.*)\ndata: (.*)$/gm)]
  expect(events.length).toBeGreaterThan(0)
  return events.flatMap(([, id, event, data = '']) =>
    check(['components', 'schemas', name], { id, event, data: JSON.parse(data) }),
  )
}

/** A run whose agent calls a tool, and its calls; and one whose agent asks people. */
export async function recordCalls(recorder: Recorder): Promise<void> {
  const { post, get } = recorder
  await recordWaitingThread(recorder)
  await recordApprovals(recorder)
  const agent = { name: 'Asked', tools: ['tool_add'], outputSchema: { type: 'object' } }
  const agentId = (await post('/api/agents', agent)).body.id
  const ask = { id: 'ask', type: 'call-agent', agentId, message: 'use tool_add {"a":1,"b":2}' }
  const steps = [ask, { id: 'end', type: 'end-flow' }]
  const definition = { name: 'Recorded', steps, edges: [{ from: 'ask', to: 'end' }] }
  const { id } = (await post('/api/workflows', definition)).body
  const { runId } = (await post(`/api/workflow/start/${id}`)).body
  const { calls } = (await get(`/api/workflow/calls/${runId}`)).body
  await get(`/api/agents/${agentId}/turns`)
  await get(`/api/agents/${agentId}/turns/${calls[0].turnId}`)
}

/** A thread whose turn waits for a decision takes no message. */
async function recordWaitingThread({ post, get }: Recorder): Promise<void> {
  const tools = [{ toolId: 'tool_add', version: 'published', approval: 'always' }]
  const agentId = (await post('/api/agents', { name: 'Asks', tools, outputSchema: { type: 'object' } })).body.id
  const { threadId } = (await post(`/api/agents/${agentId}/invoke`, { message: 'Hello' })).body
  const ask = { id: 'ask', type: 'call-agent', agentId, threadId, message: 'use tool_add {"a":1,"b":2}' }
  const steps = [ask, { id: 'end', type: 'end-flow' }]
  const definition = { name: 'Waits', steps, edges: [{ from: 'ask', to: 'end' }] }
  const { id } = (await post('/api/workflows', definition)).body
  const { runId } = (await post(`/api/workflow/start/${id}`)).body
  await expect.poll(async () => (await get(`/api/workflow/status/${runId}`)).body.status).toBe('paused')
  const said = { message: 'And?', threadId }
  expect((await post(`/api/agents/${agentId}/invoke`, said)).body.error.code).toBe('THREAD_WAITING')
  expect((await post('/api/chat', { ...said, agentId })).body.error.code).toBe('THREAD_WAITING')
  await post(`/api/workflow/resume/${runId}`, { type: 'request_user_action', actionId: 'reject' })
}

/** Turns of invoke and chat that wait for decisions, and the ways to give and refuse these. */
async function recordApprovals({ post, get, document }: Recorder): Promise<void> {
  const text = 'use tool_add {"a":1,"b":2}'
  const asks = async (approval: unknown) => {
    const tools = [{ toolId: 'tool_add', version: 'published', approval }]
    return (await post('/api/agents', { name: 'Asks', tools, outputSchema: { type: 'object' } })).body.id
  }
  const agentId = await asks('always')
  const threads = (agent: string, thread: string) => `/api/agents/${agent}/threads/${thread}/approvals`
  const yes = (turnId: string, more = {}) => ({ approvals: [{ approvalId: `${turnId}.2`, approved: true, ...more }] })
  const { threadId, turnId } = (await post(`/api/agents/${agentId}/invoke`, { message: text })).body
  const answered = await post(threads(agentId, threadId), yes(turnId))
  expect(answered).toMatchObject({ status: 200, body: { threadId } })
  expect((await get(`/api/agents/${agentId}/turns/${turnId}`)).body.answer).toEqual(answered.body)
  expect((await post(threads(agentId, threadId), yes(turnId))).body.error.code).toBe('RUN_NOT_PAUSED')
  expect((await post(threads(agentId, 'thr_nobody'), yes(turnId))).body.error.code).toBe('THREAD_NOT_FOUND')
  const json = { headers: { accept: 'application/json' } }
  const waits = (await post('/api/chat', { agentId, message: text }, json)).body
  await post('/api/chat', { agentId, threadId: waits.threadId, ...yes(waits.turnId) }, json)
  const stream = (await post('/api/chat', { agentId, message: text })).body as string
  expect(eventProblems({ document }, 'ChatEvent', stream)).toEqual([])
  for (const [approval, code] of REFUSED) {
    const id = await asks(approval)
    const asked = (await post(`/api/agents/${id}/invoke`, { message: text })).body
    const first = await post(threads(id, asked.threadId), yes(asked.turnId))
    const { status, body } =
      code === 'ALREADY_VOTED' ? await post(threads(id, asked.threadId), yes(asked.turnId)) : first
    expect([first.status === 202 || status === 403, body.error.code]).toEqual([true, code])
  }
}

/** Policies whose questions the caller may not answer, at once or again. */
const REFUSED = [
  [{ assignees: ['user:ada@x.example'] }, 'NOT_ASSIGNED'],
  [{ noSelfApproval: true }, 'SELF_APPROVAL'],
  [{ needs: { approve: 2 } }, 'ALREADY_VOTED'],
] as const
