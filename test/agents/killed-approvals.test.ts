import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgent } from '@/server/agents/lifecycle'
import { resumeRun } from '@/server/runs/resume'
import { createTool } from '@/server/tools/lifecycle'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { CrashRuns } from '../interpreter/crash-run'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { sampled } from '../support/sample.mjs'

// An agent asks about five calls in two rounds, and at a limit before each call of its model; the process dies at every write from its start to its end: of the
// questions, the answers, the parts and the calls. SOAK=1 tries all places, else each commit tries a few.

const SETTINGS = { ALLOW_PRIVATE_HOSTS: '127.0.0.1', MILLRACE_HOST_ID: 'one' }
const FEW = 3

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let outside: Outside
let workflowId: string
const crashes = new CrashRuns()
const arrived: { key: string; n: number }[] = []

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  outside = await startOutside(({ headers, body }, response) => {
    arrived.push({ key: String(headers['idempotency-key']), n: JSON.parse(body).n })
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, SETTINGS)
  workflowId = await publishAll()
  await runtime.stop()
})
afterAll(async () => {
  crashes.stop()
  await outside?.stop()
  await model?.close()
  await database?.close()
})

async function publishAll(): Promise<string> {
  const { ctx } = runtime
  const config = { method: 'POST', url: `${outside.url}/pay`, body: '${args}' }
  const { id: toolId } = await createTool(ctx, { name: 'Pay', kind: 'http', config })
  const { id: agentId } = await createAgent(ctx, {
    name: 'Pays',
    instructions: 'Pay.',
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url },
    tools: [{ toolId, version: 'latest', approval: { when: '${args.n} > 0' } }],
    limits: { call: { tokens: 10 }, at: { ask: ['role:admin'] } },
    outputSchema: { type: 'object', properties: { paid: { type: 'boolean' } }, required: ['paid'] },
  })
  const call = (n: number) => ({ name: toolId, args: { n, approval_reason: 'Because.' }, id: 'call' })
  model.answer(({ body }) => {
    const rounds = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length
    if (rounds === 0) return { calls: [call(0), call(1), call(2), call(4)] }
    return rounds === 1 ? { calls: [call(3), call(6)] } : { text: '{"paid":true}' }
  })
  const { id } = await createWorkflow(ctx, {
    name: 'Asks',
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'Go on.' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await publishWorkflow(ctx, { id })
  return id
}

test('A6, A7: a process that dies at any write of a turn that asks loses no answer, and makes exactly the approved calls', {
  timeout: 1_800_000,
}, async () => {
  const whole = await live('')
  expect(whole.died).toBe(false)
  await expectCalls(whole.runId)
  const all = whole.points.flatMap((point) => [`${point} before`, `${point} after`])
  const chosen = process.env.CRASH_AT ? [process.env.CRASH_AT] : sampled(all, all.length / FEW)
  expect(chosen.length).toBeGreaterThan(0)
  let died = 0
  for (const at of chosen) {
    const first = await live(at)
    if (first.died) died += 1
    await expectInvariants(database.sql)
    runtime = await startTestRuntime(database.url, SETTINGS)
    // A run may have begun without an acknowledgement.
    if (first.runId !== '') await decideRest(first, at)
    await runtime.stop()
  }
  // Answers meet the parts at other moments in each life, so some writes share a statement or come less often.
  expect(died).toBeGreaterThan(0)
})

/** Completes a run whose process died. */
async function decideRest({ runId, acknowledged }: Awaited<ReturnType<typeof live>>, at: string): Promise<void> {
  const until = Date.now() + 60_000
  for (;;) {
    const { status, pauseSignals } = await runtime.status(runId)
    const open = pauseSignals as { id: string; call?: { args: { n?: unknown } } }[]
    expect(
      open.map(({ id }) => id).filter((id) => acknowledged.includes(id)),
      `${at}: answered twice`,
    ).toEqual([])
    if (status === 'completed') break
    expect([Date.now() < until, status], at).toEqual([true, expect.stringMatching('running|paused')])
    const [asked] = open
    if (!asked) await sleep(20)
    else {
      const actionId = Number(asked.call?.args.n ?? 0) % 2 === 0 ? 'approve' : 'reject'
      await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', pauseId: asked.id, actionId } })
      acknowledged.push(asked.id)
    }
  }
  await expectCalls(runId, at)
}

/** The approved calls were made, each with one key; the others were not. Each call of the model was asked about once. */
async function expectCalls(runId: string, at = ''): Promise<void> {
  const made = arrived.filter(({ key }) => key.startsWith(`${runId}:`))
  const numbers = new Set(made.map(({ n }) => n))
  expect(
    [...numbers].sort((a, b) => a - b),
    at,
  ).toEqual([0, 2, 4, 6])
  expect(new Set(made.map(({ key }) => key)).size, at).toBe(4)
  const limits = await database.sql`select id from pauses where run_id = ${runId} and signal->'limit' is not null`
  expect(limits.map(({ id }) => id).sort(), at).toEqual(['main:ask#1~1', 'main:ask#1~6', 'main:ask#1~9'])
  // The calls that were under way.
  expect(made.length, at).toBeLessThanOrEqual(4 + 4)
}

/** Runs the workflow in a process of its own, which completes it or dies at one of its writes. */
async function live(at: string) {
  const { after, died, points } = await crashes.live({ tenantId: runtime.ctx.tenantId, workflowId, how: 'decide', at })
  return { runId: after('started')[0] ?? '', acknowledged: after('acknowledged'), died, points }
}
