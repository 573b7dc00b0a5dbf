import { expect, test } from 'vitest'
import {
  besideFile,
  bodyOf,
  type Call,
  curlOf,
  exampleOf,
  filledHeaders,
  filledPath,
  inFull,
  missing,
  takesFile,
} from '@/app/(dashboard)/[tenant]/reference/call'
import { found, groupsOf } from '@/app/(dashboard)/[tenant]/reference/entries'
import { headersOf } from '@/app/reference/samples'
import { openApiDocument } from '@/server/rest/openapi-document'

const document = openApiDocument('https://flow.example.com')
const callOf = (path: string, method: string): Call => {
  const operation = document.paths[path]?.[method]
  if (!operation) throw new Error(`no ${method} ${path}`)
  return { method: method.toUpperCase(), path, operation }
}

test('every call of the API has a body to begin with if it takes one, and its form ends', () => {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => callOf(path, method)),
  )
  for (const call of calls) {
    const takes = call.operation.requestBody?.content['application/json']
    expect(bodyOf(call, document) !== null, call.path).toBe(takes !== undefined)
    if (takes) expect(JSON.stringify(inFull(takes.schema, document.components.schemas))).not.toContain('$ref')
  }
})

test('an example has everything its schema requires, and of several schemas the first', () => {
  const answer = {
    type: 'object',
    properties: { type: { const: 'collect_inputs' }, data: { type: 'object' }, pauseId: { type: 'string' } },
    required: ['type', 'data'],
  }
  expect(exampleOf({ anyOf: [answer, { type: 'string' }] })).toEqual({ type: 'collect_inputs', data: {} })
  expect(exampleOf({ anyOf: [{ type: 'null' }, { type: 'integer', minimum: 3 }] })).toBe(3)
})

test('values go into the path and the query as one part each, regardless of their contents', () => {
  const call = callOf('/api/agents/{agentId}/threads', 'get')
  expect(missing(call, { 'path.agentId': ' ' })).toEqual(['agentId'])
  const path = filledPath(call, { 'path.agentId': 'a/b?c', 'query.subject': 'x&limit=1', 'query.limit': '' })
  expect(path).toBe('/api/agents/a%2Fb%3Fc/threads?subject=x%26limit%3D1')
})

test('the command is one line of a shell for each part, and never has a key', () => {
  const chat = callOf('/api/chat', 'post')
  const text = curlOf(chat, {
    url: 'https://flow.example.com/api/chat',
    tenantId: 'ten_1',
    headers: filledHeaders(chat, {}),
    body: `{"message":"it's"}`,
  })
  expect(text.split(' \\\n  ')).toEqual([
    'curl -s -X POST https://flow.example.com/api/chat',
    `-H "x-api-key: $API_KEY" -H 'x-tenant-id: ten_1'`,
    `-H 'accept: application/json'`,
    `-H 'content-type: application/json'`,
    `-d '{"message":"it'\\''s"}'`,
  ])
})

test('every header that a call documents has a field, and only those with a value are sent', () => {
  const start = callOf('/api/workflow/start/{workflowId}', 'post')
  expect(headersOf(start, document).map(({ name }) => name)).toEqual(['Idempotency-Key', 'Prefer', 'X-Request-Id'])
  expect(filledHeaders(start, { 'header.Idempotency-Key': ' once ', 'header.Prefer': ' ' })).toEqual({
    'idempotency-key': 'once',
  })
})

test('a call that takes a file sends it as a form, with the other fields beside it', () => {
  const start = callOf('/api/workflow/start/{workflowId}', 'post')
  expect([takesFile(start), takesFile(callOf('/api/chat', 'post'))]).toEqual([true, false])
  const body = JSON.stringify(besideFile({ attachment: 'file_1', pages: 3 }))
  const url = 'https://flow.example.com/api/workflow/start/wf_1'
  expect(curlOf(start, { url, tenantId: 'ten_1', headers: {}, body, file: "it's.pdf" }).split(' \\\n  ')).toEqual([
    `curl -s -X POST ${url}`,
    `-H "x-api-key: $API_KEY" -H 'x-tenant-id: ten_1'`,
    `-F 'attachment=@it'\\''s.pdf'`,
    `-F 'data={"pages":3}'`,
  ])
})

test('a search finds by name, kind, path and verb, in any order', () => {
  const groups = groupsOf({
    objects: [{ word: 'workflow', id: 'wf_1', name: 'Order approval' }],
    calls: [
      { id: 'listCalls', method: 'GET', path: '/api/workflow/calls', summary: 'List calls', tag: 'Runs' },
      { id: 'listRuns', method: 'GET', path: '/api/workflow/runs', summary: 'List runs', tag: 'Runs' },
    ],
    tags: ['Runs', 'Workflows'],
  })
  expect(groups.map(({ name }) => name)).toEqual(['Your workflows', 'Runs'])
  const ids = (search: string) => found(groups, search).flatMap(({ entries }) => entries.map(({ id }) => id))
  expect(ids('approval start')).toEqual(['wf_1'])
  expect(ids('/api/workflow/start/wf_1')).toEqual(['wf_1'])
  expect(ids('/workflow/runs GET')).toEqual(['listRuns'])
  // Both are in the group of runs, but only one is named so.
  expect(ids('runs list')).toEqual(['listRuns', 'listCalls'])
  expect(ids('nothing')).toEqual([])
})
