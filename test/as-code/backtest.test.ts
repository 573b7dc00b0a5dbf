import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { BacktestedDefinitions } from '@/server/as-code/answers'
import { applyDefinitions } from '@/server/as-code/apply'
import { backtestDefinitions } from '@/server/as-code/backtest'
import { diffDefinitions } from '@/server/as-code/diff'
import { listAudit } from '@/server/audit-log/list'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { startRun } from '@/server/runs/start'
import { updateWorkflow } from '@/server/workflows/lifecycle'
import { signedIn } from '../replay/backtests'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { fingerprint } from '../support/fingerprint'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// Past runs, tried on what an apply would make of their workflows. The apply is carried out and rolled back.

let database: FreshDatabase
let runtime: TestRuntime
let ctx: ServiceContext
let tenants = 0
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
})
beforeEach(async () => {
  tenants += 1
  ctx = await runtime.as('editor', `ten_tried_${tenants}`)
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const never = new AbortController().signal
const tried = (body: object, caller = ctx) => backtestDefinitions(caller, body as JsonObject, never)

const tool = (code: string) => ({ id: 'tool_double', name: 'Double', kind: 'script', config: { code } })
/** Passes amounts below a limit, and doubles them with a tool. */
const workflow = (id: string, limit: number, more: JsonObject = {}) => ({
  id,
  name: `Workflow ${id}`,
  payload: { amount: { type: 'number' } },
  steps: [
    { id: 'check', type: 'condition', when: `\${amount} < ${limit}` },
    { id: 'double', type: 'call-tool', toolId: 'tool_double', args: { n: '${amount}' }, saveAs: 'twice' },
    { id: 'pay', type: 'end-flow', output: { twice: '${twice}' } },
    { id: 'refuse', type: 'end-flow', output: { refused: true } },
  ],
  edges: [
    { from: 'check', to: 'double', on: 'true' },
    { from: 'check', to: 'refuse', on: 'false' },
    { from: 'double', to: 'pay' },
  ],
  ...more,
})
const body = (limit = 100, code = 'return args.n * 2') => ({
  ...{ workflows: [workflow('wf_one', limit)], tools: [tool(code)], publish: true },
})

async function ran(workflowId: string, data: JsonObject): Promise<string> {
  const { runId } = await startRun(ctx, { workflowId, body: data as never })
  const owner = { ...ctx, actor: { ...ctx.actor, role: 'owner' } } as ServiceContext
  const { getRunStatus } = await import('@/server/runs/status')
  await vi.waitFor(async () => expect((await getRunStatus(owner, { runId })).endTime).toBeDefined(), 10_000)
  return runId
}

/** Applies the definitions and runs the workflow with each amount. */
async function withRuns(...amounts: number[]): Promise<string[]> {
  await applyDefinitions(ctx, body() as JsonObject)
  const ids: string[] = []
  for (const amount of amounts) ids.push(await ran('wf_one', { amount }))
  return ids
}

test('runs are tried on what the apply would publish, and nothing of it stays', async () => {
  const [, , high] = await withRuns(50, 60, 150)
  const before = await fingerprint(database.sql, ctx.tenantId)
  const found = await tried(body(200))
  expect(BacktestedDefinitions.parse(found)).toEqual(found)
  expect(found).toMatchObject({
    workflows: [
      {
        ...{ workflowId: 'wf_one', name: 'Workflow wf_one', version: 2, truncated: false },
        sampled: { runs: 3, of: 3 },
        counts: { same: 2, way: 1, fails: 0 },
        groups: [{ verdict: { is: 'way', calls: { new: [] } }, runs: [high] }, { count: 2 }],
      },
    ],
    ...{ untried: [], unchanged: 0, truncated: false },
  })
  expect(await tried(body())).toEqual({ workflows: [], untried: [], unchanged: 1, truncated: false })
  // Neither version nor audit entry.
  expect(await fingerprint(database.sql, ctx.tenantId)).toBe(before)
  // The drift that an apply would refuse changes nothing about the runs.
  await updateWorkflow(ctx, { id: 'wf_one', body: { name: 'By hand' } })
  expect((await tried(body(200))).workflows[0]?.counts).toMatchObject({ same: 2, way: 1 })
})

test('a workflow of which only a tool changed is tried with the code of that tool, computed in memory', async () => {
  await withRuns(50, 150)
  const changed = body(100, 'return args.n * 3')
  const { workflows } = await tried(changed)
  expect(workflows).toMatchObject([
    {
      ...{ workflowId: 'wf_one', version: 2, counts: { same: 1, result: 1 } },
      groups: [{ verdict: { is: 'result', fields: ['twice'], assumed: [{ why: 'computed now' }] } }, { count: 1 }],
    },
  ])
  const [uncomputed] = (await tried({ ...changed, scripts: false })).workflows
  expect(uncomputed?.groups).toMatchObject([
    { count: 2, assuming: 1, verdict: { is: 'same', calls: { new: [], gone: [], changed: [] } } },
  ])
  expect((await tried({ ...changed, publish: false })).workflows[0]?.counts).toMatchObject({ result: 1 })
})

test.each(['latest', 'published'])(
  'a step that names the %s version of a changed tool is tried with it',
  async (version) => {
    const one = workflow('wf_one', 100)
    const steps = one.steps.map((step) => (step.type === 'call-tool' ? { ...step, version } : step))
    const named = (code: string) => ({ ...body(100, code), workflows: [{ ...one, steps }] })
    await applyDefinitions(ctx, named('return args.n * 2') as JsonObject)
    await ran('wf_one', { amount: 1 })
    expect((await tried(named('return args.n + args.n'))).workflows[0]?.counts).toMatchObject({ same: 1, assumed: 1 })
    expect((await tried(named('return 7'))).workflows[0]?.counts).toMatchObject({ result: 1 })
    const drafts = await tried({ ...named('return 7'), publish: false })
    expect(drafts.workflows.length).toBe(version === 'latest' ? 1 : 0)
  },
)

test('a tool that was only compared is not what a later call of that version runs', async () => {
  await withRuns(1)
  await diffDefinitions(ctx, body(100, 'return "compared"') as JsonObject)
  await tried(body(100, 'return "tried"'))
  await applyDefinitions(ctx, body(100, 'return "applied"') as JsonObject)
  const { knownTool } = await import('@/server/tools/known')
  const runId = await ran('wf_one', { amount: 1 })
  const { getRunStatus } = await import('@/server/runs/status')
  expect((await getRunStatus(ctx, { runId })).result).toEqual({ twice: 'applied' })
  expect(JSON.stringify(knownTool(ctx.tenantId, 'tool_double', 2))).not.toMatch(/compared|tried/)
})

test('new and archived workflows, and drafts that cannot run, are named without a verdict', async () => {
  await withRuns(50)
  const { workflows, tools } = body(200)
  const broken = { ...workflow('wf_one', 100), steps: [{ id: 'end', type: 'no-such-step' }], edges: [] }
  expect(await tried({ ...body(200), workflows: [...workflows, workflow('wf_new', 1)] })).toMatchObject({
    ...{
      workflows: [{ workflowId: 'wf_one' }],
      untried: [{ workflowId: 'wf_new', name: 'Workflow wf_new', why: 'new' }],
    },
  })
  expect(await tried({ tools, workflows: [workflow('wf_new', 1)], prune: true })).toMatchObject({
    ...{ workflows: [], untried: [{ why: 'new' }, { workflowId: 'wf_one', why: 'archived' }] },
  })
  expect(await tried({ tools, workflows: [broken] })).toMatchObject({ workflows: [], untried: [{ why: 'invalid' }] })
  await expect(tried({ tools, workflows: [broken], publish: true })).rejects.toMatchObject({
    ...{ code: 'VALIDATION_FAILED', details: [{ kind: 'workflow', id: 'wf_one' }] },
  })
})

test('the apply is rolled back even where trying fails, and one who leaves ends it', async () => {
  await withRuns(50)
  const before = await fingerprint(database.sql, ctx.tenantId)
  const replay = await import('@/server/workflows/replay/judge')
  vi.spyOn(replay, 'judge').mockRejectedValueOnce(new Error('a walk went wrong'))
  await expect(tried(body(200))).rejects.toThrow('a walk went wrong')
  vi.restoreAllMocks()
  const gone = AbortSignal.abort(new Error('left'))
  await expect(backtestDefinitions(ctx, body(200) as JsonObject, gone)).rejects.toThrow('left')
  expect(await fingerprint(database.sql, ctx.tenantId)).toBe(before)
  // It is not under way any more.
  expect((await tried(body(200))).workflows[0]?.counts.same).toBe(1)
})

test('workflows take turns until the time is over, and those to which it did not come are named', async () => {
  await applyDefinitions(ctx, {
    ...body(),
    workflows: [workflow('wf_one', 100), workflow('wf_two', 100)],
  } as JsonObject)
  for (const id of ['wf_one', 'wf_one', 'wf_two']) await ran(id, { amount: 50 })
  const changed = { ...body(), workflows: [workflow('wf_one', 200), workflow('wf_two', 200)] }
  expect(await tried(changed)).toMatchObject({ workflows: [{}, {}], untried: [], truncated: false })

  const now = performance.now.bind(performance)
  let ahead = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  const replay = await import('@/server/workflows/replay/judge')
  const { judge } = replay
  vi.spyOn(replay, 'judge').mockImplementation(async (...given) => {
    const judged = await judge(...given)
    ahead = 26_000
    return judged
  })
  expect(await tried(changed)).toMatchObject({
    workflows: [{ workflowId: 'wf_one', sampled: { runs: 2 }, counts: { same: 1 }, truncated: true }],
    ...{ untried: [{ workflowId: 'wf_two', why: 'time' }], truncated: true },
  })
  vi.restoreAllMocks()
})

test('one at a time in a workspace, for editors, and other workspaces have no part in it', async () => {
  await withRuns(50)
  const both = await Promise.allSettled([tried(body(200)), tried(body(200))])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'RATE_LIMITED', headers: { 'retry-after': '5' } },
  })
  const operator = await runtime.as('operator', ctx.tenantId)
  await expect(tried(body(200), operator)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  const theirs = await runtime.as('editor', 'ten_tried_others')
  expect(await tried(body(200), theirs)).toMatchObject({ workflows: [], untried: [{ why: 'new' }] })
})

test('hidden values decide nothing, unless an admin reveals them, which the audit log says', async () => {
  const hidden = (when: string) => ({
    workflows: [workflow('wf_one', 1, { payload: { amount: { type: 'number', sensitive: true } } })].map((one) => ({
      ...one,
      steps: one.steps.map((step) => (step.id === 'check' ? { ...step, when } : step)),
    })),
    ...{ tools: [tool('return 1')], publish: true },
  })
  await applyDefinitions(ctx, hidden('${amount} < 100') as JsonObject)
  await ran('wf_one', { amount: 50 })
  const changed = hidden('${amount} < 10')
  const person = signedIn(ctx, 'editor')
  const [found] = (await tried(changed, person)).workflows
  expect(found?.groups).toMatchObject([{ verdict: { is: 'untold', needs: { why: 'hidden' } } }])
  await expect(tried({ ...changed, reveal: true }, person)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  const admin = signedIn(ctx, 'admin')
  expect((await tried({ ...changed, reveal: true }, admin)).workflows[0]?.counts).toMatchObject({ way: 1 })
  const { entries } = await listAudit(admin, { action: 'workflow.backtested' })
  expect(entries).toMatchObject([{ thing: { id: 'wf_one' }, details: { hidden: true } }])
})

test('a key for checks compares and tries what an editor may, sees nothing hidden, and applies nothing', async () => {
  const payload = { amount: { type: 'number', sensitive: true } }
  const whole = (limit: number) => ({
    ...body(),
    workflows: [workflow('wf_one', limit, { payload })],
    schedules: [{ id: 'nightly', workflowId: 'wf_one', name: 'Nightly', cron: '0 3 * * *', data: { amount: 7777 } }],
    inboundWebhooks: [{ id: 'orders', workflowId: 'wf_one', name: 'Orders', scheme: 'none' }],
  })
  await applyDefinitions(ctx, whole(100) as JsonObject)
  await ran('wf_one', { amount: 5555 })
  const key = {
    ...ctx,
    actor: { kind: 'apiKey', id: 'key_checks', role: 'viewer', only: 'definitions:check' },
  } as const
  const before = await fingerprint(database.sql, ctx.tenantId)
  const [schedule] = whole(10).schedules
  const changed = { ...whole(10), schedules: [{ ...schedule, cron: '0 4 * * *' }] }
  const diff = await diffDefinitions(key, changed as JsonObject)
  expect(diff.changes.map(({ kind, actions }) => [kind, actions.join()])).toEqual([
    ['workflow', 'update,publish'],
    ['schedule', 'update'],
  ])
  const found = await tried(whole(10), key)
  expect(found.workflows).toMatchObject([
    { counts: { untold: 1 }, groups: [{ verdict: { needs: { why: 'hidden' } } }] },
  ])
  expect((await tried(whole(10))).workflows).toMatchObject([{ counts: { same: 1 } }])
  expect(JSON.stringify([diff, found])).not.toMatch(/5555/)
  for (const refused of [
    tried({ ...whole(10), reveal: true }, key),
    applyDefinitions(key, whole(10) as JsonObject),
    startRun(key, { workflowId: 'wf_one', body: { amount: 1 } as never }),
  ])
    await expect(refused).rejects.toMatchObject({
      ...{ code: 'FORBIDDEN', details: [{ message: expect.stringContaining('may only compare definitions') }] },
    })
  expect(await fingerprint(database.sql, ctx.tenantId)).toBe(before)
})
