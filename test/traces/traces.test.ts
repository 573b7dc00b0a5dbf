import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgent } from '@/server/agents/lifecycle'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { forget } from '@/server/interpreter/recall/run'
import { listCalls } from '@/server/runs/calls'
import { resumeRun } from '@/server/runs/resume'
import { retryRun } from '@/server/runs/retry'
import { createTool } from '@/server/tools/lifecycle'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { newAgent } from '../agents/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { imports } from '../support/imports'
import { startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newScriptTool } from '../support/tenant'

const SAID = 'nobody else may read this'
const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' }

interface Span {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  links?: { traceId: string; spanId: string }[]
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
  status: { code?: number }
}

let receiver: Server
let bodies: string[]
let database: FreshDatabase
let runtime: TestRuntime
let apiKey: string
beforeAll(async () => {
  bodies = []
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    expect([request.url, request.headers.authorization]).toEqual(['/v1/traces', 'receiver-secret'])
    bodies.push(Buffer.concat(chunks).toString())
    response.setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, {
    MILLRACE_EMBEDDED: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=receiver-secret',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  })
  apiKey = (await createApiKey(runtime.ctx, { name: 'K', role: 'owner' })).key
})
afterAll(async () => {
  await runtime?.stop()
  receiver?.close()
  await database?.close()
})

const received = (): Span[] =>
  bodies.flatMap((body) =>
    // biome-ignore lint/suspicious/noExplicitAny: the shape of OTLP is not ours
    (JSON.parse(body) as any).resourceSpans.flatMap((it: any) => it.scopeSpans.flatMap((scope: any) => scope.spans)),
  )
const attributeOf = (span: Span, key: string) => {
  const value = span.attributes.find((attribute) => attribute.key === key)?.value
  return value?.stringValue ?? value?.intValue
}
/** The spans of a run, once they have arrived. */
async function spansOf(runId: string, names: string[]): Promise<Span[]> {
  const found = (name: string) =>
    received().find(
      (span) => span.name === name && [undefined, runId].includes(attributeOf(span, 'millrace.run.id') as never),
    )
  await expect.poll(() => names.filter((name) => !found(name)), { timeout: 10_000 }).toEqual([])
  return names.map((name) => found(name) as Span)
}

async function start(workflowId: string, headers: Record<string, string> = {}): Promise<string> {
  const { POST } = await import('@/app/api/workflow/start-async/[workflowId]/route')
  const request = new Request(`http://localhost/api/workflow/start-async/${workflowId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey, ...headers },
    body: JSON.stringify({ note: SAID }),
  })
  const response = await POST(request, { params: Promise.resolve({ workflowId }) })
  return (await response.json()).runId
}

async function workflow(...steps: { id: string; type: string }[]): Promise<string> {
  const edges = steps.slice(1).map((step, i) => ({ from: steps[i]?.id ?? '', to: step.id }))
  const payload = { note: { type: 'string' } }
  return (await createWorkflow(runtime.ctx, { name: 'W', payload, steps, edges } as never)).id
}

test('a request, the run it starts, its steps, their tools and models are one trace: the caller’s', async () => {
  const toolId = await newScriptTool(runtime.ctx, 'if (input.note) throw new Error(input.note)')
  const { id: agentId } = await createAgent(runtime.ctx, {
    name: 'Echo',
    instructions: SAID,
    outputSchema: { type: 'object', properties: { said: { type: 'string' } } },
  })
  const asks = { id: 'talk', type: 'call-agent', agentId, message: '${note}' }
  const calls = { id: 'call', type: 'call-tool', toolId, args: { note: '${note}' } }
  const id = await workflow(asks, calls as never)
  const runId = await start(id, { traceparent: `00-${CALLER.trace}-${CALLER.span}-01` })
  expect((await runtime.wait(runId)).status).toBe('failed')

  const route = 'POST /api/workflow/start-async/[workflowId]'
  const names = [route, 'start run', 'step call-agent', 'chat scripted', 'step call-tool', 'tool script']
  const [request, begun, talk, chat, call, tool] = (await spansOf(runId, names)) as [Span, Span, Span, Span, Span, Span]
  for (const span of [request, begun, talk, chat, call, tool]) expect(span.traceId).toBe(CALLER.trace)
  expect(request.parentSpanId).toBe(CALLER.span)
  expect(begun.parentSpanId).toBe(request.spanId)
  for (const step of [talk, call]) expect(step.parentSpanId).toBe(begun.spanId)
  expect([chat.parentSpanId, tool.parentSpanId]).toEqual([talk.spanId, call.spanId])
  expect(attributeOf(request, 'http.response.status_code')).toBe(200)
  expect(attributeOf(call, 'millrace.step.id')).toBe('call')
  expect([attributeOf(tool, 'error.type'), tool.status.code]).toEqual(['EXECUTION_ERROR', 2])
  for (const secret of [SAID, apiKey]) expect(bodies.join()).not.toContain(secret)
})

test('each call of an agent has a span with its turn and its number, and a recorded one that is not made again has none', async () => {
  const model = await startModelServer()
  try {
    const tool = await newScriptTool(runtime.ctx, 'return 1')
    const { id: agentId } = await newAgent(runtime.ctx, { tools: [tool] }, model)
    const ask = { id: 'ask', type: 'call-agent', agentId, message: 'x', retry: { maxAttempts: 1 } }
    const id = await workflow(ask)
    const spansOfTurn = async (runId: string) => {
      const turnId = (await listCalls(runtime.ctx, runId, {})).calls[0]?.turnId
      return received()
        .filter((span) => attributeOf(span, 'millrace.turn.id') === turnId)
        .map((span) => `${attributeOf(span, 'millrace.call.seq')} ${span.name}`)
        .sort()
    }
    model.script({ calls: [{ name: tool, args: {} }] }, { status: 400 })
    const first = await start(id)
    expect((await runtime.wait(first)).status).toBe('failed')
    await expect
      .poll(() => spansOfTurn(first))
      .toEqual(['1 chat openai-compatible', '2 tool script', '3 chat openai-compatible'])
    model.script({ text: '{"item":"chairs","amount":12}' })
    const { runId } = await retryRun(runtime.ctx, { runId: first })
    expect((await runtime.wait(runId)).status).toBe('completed')
    // The result of a tool that only computes is recorded with the next call, which failed.
    await expect.poll(() => spansOfTurn(runId)).toEqual(['2 tool script', '3 chat openai-compatible'])
    expect((await listCalls(runtime.ctx, runId, {})).calls.map(({ seq }) => seq)).toEqual([1, 2, 3])
  } finally {
    await model.close()
  }
})

test('a tool that calls another service continues the trace there, unless it sends a traceparent of its own', async () => {
  const came: (string | undefined)[] = []
  const other = createServer((request, response) => {
    came.push(request.headers.traceparent?.toString())
    response.setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  try {
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const own = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
    const { publishTool } = await import('@/server/tools/lifecycle')
    const toolOf = async (kind: object) => {
      const { id } = await createTool(runtime.ctx, { name: `T${came.length}`, description: 'x', ...kind } as never)
      await publishTool(runtime.ctx, { id })
      return id
    }
    const http = (headers: object) => toolOf({ kind: 'http', config: { method: 'GET', url, headers } })
    const toolIds = [await http({}), await http({ Traceparent: own })]
    const runId = await start(
      await workflow(...toolIds.map((toolId, n) => ({ id: `call${n}`, type: 'call-tool', toolId }) as never)),
      { traceparent: `00-${CALLER.trace}-${CALLER.span}-01` },
    )
    expect((await runtime.wait(runId)).status).toBe('completed')
    const [tool] = (await spansOf(runId, ['tool http'])) as [Span]
    expect(came).toEqual([`00-${CALLER.trace}-${tool.spanId}-01`, own])
  } finally {
    other.close()
  }
})

test('a run’s later work has a trace of its own, with a link to its start', async () => {
  const ask = { id: 'ask', type: 'collect-inputs', output: { more: { type: 'string' } } }
  const id = await workflow(ask, { id: 'then', type: 'run-script', code: 'return 1' } as never)
  const runId = await start(id)
  await runtime.wait(runId, (run) => run.status === 'paused')
  await database.sql`update runs set start_time = start_time - interval '60 days' where id = ${runId}`
  // No cache lasts that long.
  forget(runId)
  await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { more: SAID } } })
  await runtime.wait(runId)
  const [begun, then] = (await spansOf(runId, ['start run', 'step run-script'])) as [Span, Span]
  expect(then.traceId).not.toBe(begun.traceId)
  expect(then.parentSpanId).toBeUndefined()
  expect(then.links).toMatchObject([{ traceId: begun.traceId, spanId: begun.spanId }])
})

test('a header that is not a traceparent begins a trace', async () => {
  const id = await workflow({ id: 'set', type: 'run-script', code: 'return 1' } as never)
  for (const traceparent of ['x', `00-${'0'.repeat(32)}-${CALLER.span}-01`, `ff-${CALLER.trace}-${CALLER.span}-01`]) {
    const runId = await start(id, { traceparent })
    await runtime.wait(runId)
    const [begun] = (await spansOf(runId, ['start run'])) as [Span]
    expect(begun.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(begun.traceId).not.toMatch(new RegExp(`^(0{32}|${CALLER.trace})$`))
  }
})

test('before a process sleeps, finished spans are sent, however long a batch would wait', async () => {
  const { openTracer } = await import('@/server/telemetry/open-tracer')
  const { bindTracer, flushTraces, traced } = await import('@/server/telemetry/traces')
  const mine = openTracer('sleeper', runtime.ctx.log)
  const received = bodies.length
  bindTracer(mine)
  try {
    await traced(
      () => ({ name: 'before sleep', attributes: {}, parent: null }),
      async () => {},
    )
    await flushTraces()
    expect(bodies.slice(received).join()).toContain('before sleep')
  } finally {
    bindTracer(null)
    await mine.stop()
  }
})

test('only the file that is loaded for it knows the SDK', () => {
  const using = imports.filter(({ to }) => to.startsWith('@opentelemetry/')).map(({ from }) => from)
  expect([...new Set(using)]).toEqual(['server/telemetry/open-tracer.ts'])
  const loading = imports.filter(({ to }) => /open-tracer/.test(to))
  expect(loading.map(({ from }) => from).filter((from) => !from.startsWith('test/'))).toEqual([
    'instrumentation-node.ts',
  ])
})
