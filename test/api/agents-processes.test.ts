import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, call, startApi, TEST_ENV } from '../support/api'
import { type ModelServer, startModelServer } from '../support/model'
import { startWeb, type Web } from '../support/service'

let api: Api
let other: Web
let model: ModelServer
let agentId: string
const ENV = { ALLOW_PRIVATE_HOSTS: '127.0.0.1', AGENT_TIMEOUT_MS: '60000' }

beforeAll(async () => {
  model = await startModelServer()
  api = await startApi(ENV)
  const { tenantId, apiKey } = api
  other = await startWeb({ databaseUrl: api.database.url, tenantId, apiKey, env: { ...TEST_ENV, ...ENV } })
  const { body } = await api.call('POST', '/api/agents', {
    name: 'Orders',
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url },
    outputSchema: { type: 'object', properties: { said: { type: 'number' } }, required: ['said'] },
  })
  agentId = body.id
})
afterAll(async () => {
  await other?.stop()
  await api?.stop()
  await model?.close()
})

const invoke = (web: Web, body: object) =>
  call({ ...web, tenantId: api.tenantId, apiKey: api.apiKey }, 'POST', `/api/agents/${agentId}/invoke`, body)

test('messages to one thread through two processes are answered one after the other', async () => {
  let atWork = 0
  let most = 0
  model.answer(({ body }) => {
    most = Math.max(most, ++atWork)
    setTimeout(() => atWork--, 60)
    return { text: JSON.stringify({ said: body.messages.length }), delayMs: 60 }
  })
  const { threadId } = (await invoke(api, { message: 'begin' })).body
  const webs: Web[] = [api, other, api, other, api, other]
  const answers = await Promise.all(webs.map((web, i) => invoke(web, { message: `m${i}`, threadId })))
  expect(answers.map(({ status }) => status)).toEqual(webs.map(() => 200))
  // Each saw one turn more than the previous one.
  expect(answers.map(({ body }) => body.data.said).sort((a, b) => a - b)).toEqual([4, 6, 8, 10, 12, 14])
  expect(most).toBe(1)
  const rows = await api.database.sql<{ seq: number; role: string }[]>`
    select seq, role from messages where thread_id = ${threadId} order by seq`
  expect(rows.map(({ seq, role }) => [seq, role])).toEqual(
    Array.from({ length: 14 }, (_, i) => [i + 1, i % 2 === 0 ? 'user' : 'assistant']),
  )
})

test('a process killed during a turn frees the thread and leaves no partial turn', async () => {
  model.answer(() => ({ text: '{"said":1}' }))
  const { threadId } = (await invoke(api, { message: 'begin' })).body
  model.answer(({ body }) => (body.messages.at(-1).content === 'doomed' ? { hang: true } : { text: '{"said":2}' }))
  const doomed = invoke(other, { message: 'doomed', threadId }).catch(() => 'gone')
  while (model.calls.length === 0) await sleep(20)
  other.kill('SIGKILL')
  expect(await doomed).toBe('gone')
  const started = performance.now()
  const { status, body } = await invoke(api, { message: 'next', threadId })
  expect([status, body.data]).toEqual([200, { said: 2 }])
  expect(performance.now() - started).toBeLessThan(60_000)
  const said = await api.database.sql<{ content: { message?: string } }[]>`
    select content from messages where thread_id = ${threadId} and role = 'user' order by seq`
  expect(said.map(({ content }) => content.message)).toEqual(['begin', 'next'])
})
