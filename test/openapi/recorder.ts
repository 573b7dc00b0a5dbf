import { expect } from 'vitest'
import type { OpenApiDocument } from '@/server/openapi/types'
import type { Answer, Api, CallOptions } from '../support/api'
import { checkerOf, type Documented, findOperation, inlined, operationsOf, problemsOf } from './validate'

/** Makes real calls and checks every answer against the document. */
export interface Recorder {
  document: OpenApiDocument
  operations: Documented[]
  /** `operationId status code` of every answer so far. */
  seen: Set<string>
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
  get(path: string, options?: CallOptions): Promise<Answer>
  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer>
  /** A start with a file. */
  form(path: string, bytes: string): Promise<Answer>
  /** Records an answer to a call made elsewhere. */
  record(method: string, path: string, answer: Answer): Answer
}

export async function startRecorder(api: Api): Promise<Recorder> {
  const document = inlined((await api.call('GET', '/api/openapi.json')).body)
  const operations = operationsOf(document)
  const check = checkerOf(document, { closed: true })
  const seen = new Set<string>()

  function record(method: string, path: string, answer: Answer): Answer {
    const found = findOperation(operations, method, path)
    if (!found) throw new Error(`${method} ${path} is not documented`)
    const problems = problemsOf(check, found, answer)
    expect(problems, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`).toEqual([])
    const code = answer.status >= 400 ? answer.body?.error?.code : ''
    seen.add(`${found.operation.operationId} ${answer.status} ${code ?? ''}`.trim())
    return answer
  }
  const call: Recorder['call'] = async (method, path, body, options = {}) =>
    record(method, path, await api.call(method, path, body, options))

  return {
    document,
    operations,
    seen,
    call,
    record,
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body = {}, options) => call('POST', path, body, options),
    async form(path, bytes) {
      const body = new FormData()
      body.set('attachment', new Blob([bytes]), 'note.txt')
      const headers = { 'x-api-key': api.apiKey }
      const response = await fetch(`${api.url}${path}`, { method: 'POST', headers, body })
      return record('POST', path, { status: response.status, headers: response.headers, body: await response.json() })
    },
  }
}

/** Every answer of the document itself. */
export async function recordOpenApi({ get }: Recorder): Promise<void> {
  const nobody = { headers: { 'x-api-key': '', 'x-tenant-id': '' } }
  const own = '/api/openapi.json?workflows=published'
  for (const [path, options] of [['/api/openapi.json', nobody] as const, [own, {}] as const]) {
    const { headers } = await get(path, options)
    expect((await get(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } })).status).toBe(304)
  }
  expect((await get('/api/openapi.json?workflows=drafts')).body.error.code).toBe('INVALID_INPUT')
  expect((await get(own, nobody)).status).toBe(401)
}
