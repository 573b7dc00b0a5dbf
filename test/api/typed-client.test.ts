import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenApiDocument } from '@/server/openapi/types'
import { typescriptClient } from '../openapi/typescript'
import { checkerOf } from '../openapi/validate'
import { type Api, startApi } from '../support/api'
import { ROOT } from '../support/programs'

// A client that is generated from the workspace's own document.

let api: Api
let folder: string
beforeAll(async () => {
  api = await startApi()
  folder = mkdtempSync(join(tmpdir(), 'typed-client-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await api.stop()
})

const PURCHASE = {
  name: 'Purchase',
  payload: {
    item: { type: 'string' },
    price: { type: 'number' },
    rush: { type: 'boolean', required: false },
    unit: { type: 'string', options: ['piece', 'box'], default: 'piece' },
  },
  steps: [
    {
      id: 'ask',
      type: 'collect-inputs',
      output: { amount: { type: 'integer' }, note: { type: 'string', required: false } },
    },
    { id: 'sum', type: 'set-data', compute: { total: '${price} * ${amount}' } },
    {
      id: 'decide',
      type: 'request-user-action',
      actions: [
        { id: 'approve', label: 'Approve' },
        { id: 'reject', label: 'Reject' },
      ],
    },
    {
      id: 'end',
      type: 'end-flow',
      output: {
        total: '${total}',
        text: '${amount} of ${item}',
        lines: [{ item: '${item}' }],
        by: '${decide.actionId}',
      },
    },
  ],
  edges: [
    { from: 'ask', to: 'sum' },
    { from: 'sum', to: 'decide' },
    { from: 'decide', to: 'end' },
  ],
}

/** Code as a customer's developer would write it. The lines that must not compile are never executed. */
const USE = `
import { client, type Schemas } from './client'
declare const process: { argv: string[] }
const [, , url = '', key = ''] = process.argv
const call = client(url, { 'x-api-key': key })
const body = { item: 'Chair', price: 12.5 }

async function buy(): Promise<Schemas['PurchaseResult']> {
  const started = await call('startPurchase', { body })
  if (started.status !== 202) throw new Error(JSON.stringify(started))
  const { runId, data } = started.body
  const item: string = data.item
  console.error(item)
  const data2 = { type: 'collect_inputs', stepId: 'ask', data: { amount: 2 } } as const
  await call('resumeRun', { params: { runId }, body: data2 })
  for (let stepId: string | null = null; stepId !== 'decide'; ) {
    const { body: run } = await call('getRunStatus', { params: { runId } })
    stepId = 'pauseSignal' in run ? (run.pauseSignal?.stepId ?? null) : null
  }
  const yes = { type: 'request_user_action', stepId: 'decide', actionId: 'approve' } as const
  await call('resumeRun', { params: { runId }, body: yes })
  for (;;) {
    const { status, body: run } = await call('getRunStatus', { params: { runId } })
    if (status !== 200) throw new Error(run.error.code)
    if (run.workflowId === 'WORKFLOW_ID' && run.result) return run.result
  }
}

export async function wrong(result: Schemas['PurchaseResult']) {
  // @ts-expect-error it is a number
  const text: string = result.total
  // @ts-expect-error there is no such field
  result.nothing
  // @ts-expect-error the workflow asks for a price
  await call('startPurchase', { body: { item: 'Chair' } })
  // @ts-expect-error there is no such unit
  await call('startPurchase', { body: { ...body, unit: 'barrel' } })
  const answer = { type: 'request_user_action', stepId: 'decide' } as const
  // @ts-expect-error there is no such action
  await call('resumeRun', { params: { runId: '' }, body: { ...answer, actionId: 'maybe' } })
  // @ts-expect-error that step asks for fields
  await call('resumeRun', { params: { runId: '' }, body: { ...answer, stepId: 'ask', actionId: 'approve' } })
  return text
}

const result = await buy()
const total: number = result.total
const sentence: string = result.text
const first: string | undefined = result.lines[0]?.item
const sum = await call('callSumUpTool', { body: { version: 'published', args: { a: total, b: 1 } } })
const more: number | null = sum.status === 200 && sum.body.success ? sum.body.data.sum : null
console.log(JSON.stringify({ total, sentence, first, more }))
`

async function publish(path: string, body: object): Promise<string> {
  const { id } = (await api.call('POST', path, body)).body
  expect((await api.call('POST', `${path}/${id}/publish`, {})).status).toBe(200)
  return id
}

test('starts a workflow, answers its pauses and reads its result, all of it typed', async () => {
  const id = await publish('/api/workflows', PURCHASE)
  const number = { type: 'number' }
  const tool = await publish('/api/tools', {
    name: 'Sum up',
    kind: 'script',
    config: { code: 'return { sum: args.a + args.b }' },
    inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
    outputSchema: { type: 'object', properties: { sum: number }, required: ['sum'] },
  })
  const url = `/api/openapi.json?workflows=published&only=${id},${tool}`
  const document = (await api.call('GET', url)).body
  const options = {
    ...{ target: 'ES2022', lib: ['ES2022', 'dom'], module: 'esnext', moduleResolution: 'bundler', types: [] },
    ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true },
  }
  const files = {
    'client.ts': typescriptClient(document),
    'use.ts': USE.replace('WORKFLOW_ID', id),
    'tsconfig.json': JSON.stringify({ compilerOptions: options, files: ['use.ts'] }),
    'package.json': '{ "type": "module" }',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const run = (program: string, args: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  const types = run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(folder, 'tsconfig.json')])
  expect(types).toEqual({ status: 0, stdout: '', stderr: '' })
  const used = run(process.execPath, ['--import', 'tsx', join(folder, 'use.ts'), api.url, api.apiKey])
  expect(used).toMatchObject({ status: 0, stderr: 'Chair\n' })
  expect(JSON.parse(used.stdout)).toEqual({ total: 25, sentence: '2 of Chair', first: 'Chair', more: 26 })
})

test('the document’s description of a run holds at any time', async () => {
  const id = await publish('/api/workflows', { ...PURCHASE, name: 'Looked at' })
  const document = (await api.call('GET', `/api/openapi.json?workflows=published&only=${id}`)).body as OpenApiDocument
  const checks = [checkerOf(document), checkerOf(document, { closed: true })]
  const problems = (name: string, value: unknown) =>
    checks.flatMap((check) => check(['components', 'schemas', name], value))
  const start = { item: 'Chair', price: 2 }
  expect(problems('LookedAtInput', start)).toEqual([])
  const { body: paused } = await api.call('POST', `/api/workflow/start/${id}`, start)
  expect([paused.status, problems('LookedAtRun', paused)]).toEqual(['paused', []])
  const { runId } = paused
  const answers = [
    { type: 'collect_inputs', stepId: 'ask', data: { amount: 3 } },
    { type: 'request_user_action', stepId: 'decide', actionId: 'reject' },
  ]
  for (const [at, answer] of answers.entries()) {
    const status = async () => (await api.call('GET', `/api/workflow/status/${runId}`)).body
    await expect.poll(async () => (await status()).pauseSignal?.stepId).toBe(answer.stepId)
    expect(problems('LookedAtRun', await status())).toEqual([])
    expect(problems(at === 0 ? 'LookedAtAskAnswer' : 'LookedAtDecideAnswer', answer)).toEqual([])
    expect((await api.call('POST', `/api/workflow/resume/${runId}`, answer)).status).toBe(200)
  }
  const status = async () => (await api.call('GET', `/api/workflow/status/${runId}`)).body
  await expect.poll(async () => (await status()).status).toBe('completed')
  const run = await status()
  expect([run.result.total, problems('LookedAtRun', run)]).toEqual([6, []])
  expect(problems('LookedAtRun', { ...run, result: { ...run.result, total: '6' } })).not.toEqual([])
})

test('needs a credential, and is sent again only after a change', async () => {
  const url = '/api/openapi.json?workflows=published'
  const nobody = { headers: { 'x-api-key': '', 'x-tenant-id': '' } }
  expect((await api.call('GET', url, undefined, nobody)).body.error.code).toBe('UNAUTHORIZED')
  expect((await api.call('GET', '/api/openapi.json', undefined, nobody)).status).toBe(200)
  expect((await api.call('GET', '/api/openapi.json?workflows=drafts')).body.error.code).toBe('INVALID_INPUT')
  const all = await api.call('GET', url)
  // With the samples.
  expect([all.status, Object.keys(all.body.paths).length > 10]).toEqual([200, true])
  const etag = all.headers.get('etag') ?? ''
  const again = () => api.call('GET', url, undefined, { headers: { 'if-none-match': etag } })
  expect(await again()).toMatchObject({ status: 304, body: '' })
  await publish('/api/workflows', { name: 'One more', steps: [{ id: 'end', type: 'end-flow' }] })
  expect((await again()).status).toBe(200)
})
