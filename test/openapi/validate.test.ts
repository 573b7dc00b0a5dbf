import { expect, test } from 'vitest'
import { openApiDocument } from '@/server/rest/openapi-document'
import { pausedRun } from '@/server/runs/examples'
import { checkerOf, findOperation, operationsOf, problemsOf } from './validate'

const document = openApiDocument('http://localhost')
const operations = operationsOf(document)
const check = checkerOf(document, { closed: true })
const found = findOperation(operations, 'GET', '/api/workflow/status/run_x')
const headers = new Headers({ 'content-type': 'application/json', 'x-request-id': 'x', 'x-api-version': '2026-11-01' })

function problems(answer: { status?: number; headers?: Headers; body?: unknown }): string[] {
  if (!found) throw new Error('The operation is gone.')
  return problemsOf(check, found, { status: 200, headers, body: pausedRun, ...answer })
}

test('a documented answer has no problems', () => {
  expect(problems({})).toEqual([])
})

test('a missing, mistyped or undocumented field is a problem, however deep it is', () => {
  const { runId: _runId, ...rest } = pausedRun
  const [step] = pausedRun.stepExecutionHistory
  expect(problems({ body: rest })).toHaveLength(1)
  expect(problems({ body: { ...pausedRun, status: 'sleeping' } })).toHaveLength(1)
  expect(problems({ body: { ...pausedRun, secret: 1 } })).toHaveLength(1)
  expect(problems({ body: { ...pausedRun, stepExecutionHistory: [{ ...step, secret: 1 }] } })).toHaveLength(1)
  expect(problems({ body: { ...pausedRun, startTime: 'yesterday' } })).toHaveLength(1)
})

test('an undocumented status, type, code or header is a problem', () => {
  const error = (code: string) => ({ success: false, error: { message: 'x', code, details: [] }, requestId: 'x' })
  expect(problems({ status: 418 })).toEqual(['the status 418 is not documented'])
  expect(problems({ headers: new Headers({ 'content-type': 'text/html' }) })).toHaveLength(1)
  expect(problems({ headers: new Headers({ 'content-type': 'application/json' }) })).toHaveLength(2)
  expect(problems({ status: 404, body: error('RUN_NOT_FOUND') })).toEqual([])
  expect(problems({ status: 404, body: error('TOOL_NOT_FOUND') })).toEqual([
    'the code TOOL_NOT_FOUND is not documented',
  ])
})

test('a path with a fixed name takes precedence over one with a parameter', () => {
  expect(findOperation(operations, 'GET', '/api/workflow/runs?limit=1')?.operation.operationId).toBe('listRuns')
  expect(findOperation(operations, 'GET', '/api/workflows/wf_x')?.operation.operationId).toBe('getWorkflow')
  expect(findOperation(operations, 'GET', '/api/nothing')).toBeUndefined()
})
