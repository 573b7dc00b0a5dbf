import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tenants } from '@/db/schema/tenants'
import { createAgent } from '@/server/agents/lifecycle'
import { backtestWorkflow } from '@/server/runs/backtest/backtest'
import { listCalls } from '@/server/runs/calls'
import { cancelRun } from '@/server/runs/cancel'
import { addComment } from '@/server/runs/comment'
import { RUN_ENDPOINTS } from '@/server/runs/endpoints'
import { openRunEvents } from '@/server/runs/events'
import { exportRuns } from '@/server/runs/export'
import { readHistory } from '@/server/runs/history'
import { listRuns } from '@/server/runs/list'
import { resumeRun } from '@/server/runs/resume'
import { getRunStatus } from '@/server/runs/status'
import { terminateRun } from '@/server/runs/terminate'
import { whatIf } from '@/server/runs/what-if/what-if'
import { readValue } from '@/server/runs/whole-value'
import { setVaultSecret } from '@/server/vault/set'
import { readTimeline } from '@/server/views/runs/timeline'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { KINDS } from '../trpc/procedures'
import { callProcedure, newVisitor, type Visitor } from '../trpc/support'

/** A vault value that people have also typed into every text of a run. */
const SECRET = 'swordfish_8472'
/** Long enough to count as a leak: where a text is cut, it must be masked first. */
const PART = SECRET.slice(0, 5)
const WORKFLOW = `Pay ${SECRET}`

interface Look {
  /** The procedure's inputs, one for each of these runs and their steps. */
  inputs: (run: Run) => unknown[]
  /** Whether its answers contain text, so that only masking hides the value. */
  words: boolean
}

interface Run {
  runId: string
  workflowId: string
  /** The numbers of its steps, in order. */
  seqs: number[]
  /** The ids of those outside of branches. */
  mainSteps: string[]
  /** The number of the step whose agent made a call. */
  talk?: number | undefined
}

const once = () => [undefined]
const byRun = ({ runId }: Run) => [{ runId }]

/** Every read of runs in the dashboard. A missing procedure fails the first test. */
const READS: Record<string, Look> = {
  'runs.list': { inputs: () => [{}], words: true },
  'runs.refresh': { inputs: ({ runId }) => [{ runIds: [runId] }], words: true },
  'runs.totals': { inputs: () => [{}], words: false },
  'runs.countNew': { inputs: () => [{ since: null }], words: false },
  'runs.exportCsv': { inputs: () => [{}], words: true },
  'runs.countBulk': { inputs: () => [{ verb: 'cancel', filter: {}, at: new Date().toISOString() }], words: false },
  'runs.causes': { inputs: ({ runId, workflowId }) => [{ workflowId, runId }], words: true },
  'runs.causeRuns': { inputs: ({ workflowId }) => [{ workflowId, key: 'x' }], words: false },
  'runs.workflows': { inputs: once, words: true },
  'runs.overview': { inputs: byRun, words: true },
  'runs.comments': { inputs: byRun, words: true },
  'runs.timeline': { inputs: byRun, words: true },
  'runs.branches': { inputs: ({ runId }) => [{ runId, fork: 'main/fork#1', page: 0 }], words: true },
  'runs.step': { inputs: ({ runId, seqs }) => seqs.map((seq) => ({ runId, seq })), words: true },
  'runs.outputs': { inputs: byRun, words: true },
  'runs.stepValues': {
    inputs: ({ workflowId }) =>
      ['ask', 'work', 'decide', 'talk'].map((stepId) => ({ workflowId, stepId, names: ['note', 'who', 'ask', '_'] })),
    words: true,
  },
  // Only of published versions: `interpreter/moves` has it.
  'runs.movable': { inputs: () => [], words: false },
  'runs.dataAtStep': {
    inputs: ({ runId, mainSteps }) => mainSteps.map((stepId) => ({ runId, stepId })),
    words: true,
  },
  'runs.conversation': { inputs: ({ runId, seqs }) => seqs.map((seq) => ({ runId, seq })), words: true },
  'runs.calls': { inputs: ({ runId, seqs }) => seqs.map((seq) => ({ runId, seq })), words: false },
  'runs.oneCall': { inputs: ({ runId, talk }) => (talk ? [{ of: { runId, seq: talk }, call: '1' }] : []), words: true },
  'runs.wholeValue': {
    inputs: ({ runId, seqs, talk }) => [
      ...(talk ? [{ of: 'call', at: { of: { runId, seq: talk }, call: '1' }, field: 'text' }] : []),
      ...['input', 'data', 'result'].map((field) => ({ of: 'run', runId, field })),
      ...seqs.flatMap((seq) => ['input', 'output'].map((field) => ({ of: 'step', runId, seq, field }))),
    ],
    words: true,
  },
  'runs.statusText': { inputs: ({ runId }) => [{ runId, whole: true }], words: true },
  'runs.definition': { inputs: byRun, words: true },
  'runs.changes': { inputs: byRun, words: true },
  'tasks.list': { inputs: () => [{}, { view: 'done' }, { view: 'mine' }, { view: 'roles' }], words: true },
  'tasks.count': { inputs: () => [{}], words: false },
  'tasks.countViews': { inputs: () => [{}], words: false },
  'tasks.get': { inputs: ({ runId }) => [{ runId, pauseId: 'ask' }], words: true },
  'tasks.first': { inputs: byRun, words: true },
  'tasks.takers': { inputs: ({ runId }) => [{ runId, pauseId: 'main:ask#1' }], words: false },
  'tasks.refused': { inputs: once, words: false },
  'home.pulse': { inputs: once, words: false },
  'home.health': { inputs: once, words: false },
  'home.checklist': { inputs: once, words: false },
  'home.find': { inputs: ({ runId }) => [{ q: runId }, { q: 'Pay' }], words: true },
}

const never = new AbortController().signal

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
let visitor: Visitor
let runs: Run[]

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }) => (path === '/away' ? { status: 503 } : { body: { said: SECRET } }))
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32), MILLRACE_EMBEDDED: '1' })
  visitor = await newVisitor(runtime.ctx, 'owner')
  await runtime.db.update(tenants).set({ slug: visitor.tenant ?? '' })
  runs = await Promise.all([
    paused(),
    failed(),
    succeeded(),
    retrying(),
    decided(),
    voting(),
    talked(),
    logged(),
    forked(),
    stopped(cancelRun),
    stopped(terminateRun),
  ])
  await addComment(runtime.ctx, { runId: runs[0]?.runId, text: `It was ${SECRET}` })
  // Set last: results of tools are masked before they are stored, everything else only when it is read.
  await setVaultSecret(runtime.ctx, { name: 'PASSWORD', value: SECRET })
})
afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const ask = {
  id: 'ask',
  type: 'collect-inputs',
  name: `Ask ${SECRET}`,
  title: `Who is ${SECRET}?`,
  message: `${SECRET} wants to know`,
  output: { who: { type: 'string', description: `such as ${SECRET}` } },
}
const effect = (path: string, more = {}) => ({
  id: 'work',
  type: 'test-effect',
  name: `Work for ${SECRET}`,
  url: `${effects.url}${path}`,
  body: { to: '${who}' },
  ...more,
})
const definition = (...steps: { id: string }[]) => ({
  name: WORKFLOW,
  description: `About ${SECRET}`,
  payload: { note: { type: 'string', default: SECRET }, more: { type: 'any', default: {} } },
  steps,
  edges: steps.slice(1).map((step, i) => ({ from: steps[i]?.id ?? '', to: step.id })),
})

/** Starts a run that pauses first. Long texts have the value where a summary is cut. */
async function begin(...after: { id: string }[]): Promise<string> {
  const runId = await runtime.start(definition(ask, ...after), { note: `${'x'.repeat(115)}${SECRET}` })
  await runtime.wait(runId, (run) => run.status === 'paused')
  return runId
}

const answer = (runId: string) =>
  resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { who: SECRET } } })

async function withSteps(runId: string): Promise<Run> {
  const { rows, steps } = await readTimeline(runtime.ctx, { runId })
  const { workflowId } = await runtime.status(runId)
  const main = steps.filter(([, , , branch]) => branch === 'main')
  return { runId, workflowId, seqs: rows.map(([seq]) => seq), mainSteps: main.map(([id]) => id) }
}

async function paused(): Promise<Run> {
  return withSteps(await begin())
}

async function failed(): Promise<Run> {
  const runId = await begin(effect('work', { body: { to: `\${more.${SECRET}}` } }))
  await answer(runId)
  expect((await runtime.wait(runId)).error?.message).toContain(SECRET)
  return withSteps(runId)
}

/** A branch whose label has the value fails with an error that has it too. */
async function forked(): Promise<Run> {
  const fork = {
    id: 'fork',
    type: 'parallel',
    branches: [{ id: 'work', label: `For ${SECRET}` }],
    onBranchError: 'continue',
  }
  const { edges, ...rest } = definition(ask, fork)
  const steps = [...rest.steps, effect('work', { body: { to: `\${more.${SECRET}}` } })]
  const runId = await runtime.start({ ...rest, steps, edges: [...edges, { from: 'fork', to: 'work', on: 'work' }] })
  await runtime.wait(runId, (run) => run.status === 'paused')
  await answer(runId)
  expect((await runtime.wait(runId)).status).toBe('failed')
  return withSteps(runId)
}

async function succeeded(): Promise<Run> {
  const runId = await begin(effect('work'))
  await answer(runId)
  expect(JSON.stringify((await runtime.wait(runId)).result)).toContain(SECRET)
  return withSteps(runId)
}

async function retrying(): Promise<Run> {
  const retry = { maxAttempts: 5, initialDelayMs: 600_000, maxDelayMs: 600_000 }
  const runId = await begin(effect('away', { retry }))
  await answer(runId)
  await runtime.wait(runId, (run) => run.stepExecutionHistory.some(({ attempts }) => attempts?.length === 1))
  return withSteps(runId)
}

/** A person chose an action whose label is the value. */
async function decided(): Promise<Run> {
  const actions = [{ id: 'yes', label: `Use ${SECRET}` }]
  const runId = await begin({ id: 'decide', type: 'request-user-action', title: `May ${SECRET} go?`, actions } as never)
  await answer(runId)
  await runtime.wait(runId, (run) => run.status === 'paused' && run.currentStepId === 'decide')
  await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'yes' } })
  await runtime.wait(runId)
  return withSteps(runId)
}

/** A person voted, and their remark is the value; so is the name of another voter. */
async function voting(): Promise<Run> {
  const actions = [{ id: 'yes', label: `Use ${SECRET}` }]
  const asked = { assignees: ['role:owner', `user:${SECRET}`], needs: { yes: 2 } }
  const runId = await runtime.start(
    definition({
      ...{ id: 'ask', type: 'request-user-action', name: `Vote on ${SECRET}` },
      actions,
      ...asked,
    } as never),
  )
  await runtime.wait(runId, (run) => run.status === 'paused')
  const body = { type: 'request_user_action', actionId: 'yes', actionValue: `because of ${SECRET}` }
  await resumeRun(runtime.ctx, { runId, body })
  return withSteps(runId)
}

/** The agent received the value, and repeats it. */
async function talked(): Promise<Run> {
  const agent = await createAgent(runtime.ctx, {
    name: `Echo ${SECRET}`,
    instructions: 'Repeat.',
    outputSchema: { type: 'object', properties: { said: { type: 'string' } } },
  })
  const runId = await begin({ id: 'talk', type: 'call-agent', agentId: agent.id, message: 'It is ${who}.' } as never)
  await answer(runId)
  expect((await runtime.wait(runId)).error).toBeNull()
  const run = await withSteps(runId)
  return { ...run, talk: run.seqs.at(-1) }
}

/** A script wrote the value to its console. */
async function logged(): Promise<Run> {
  const code = 'console.log(`it is ${args.who}`); return 1'
  const runId = await begin({ id: 'log', type: 'run-script', code, args: { who: '${who}' } } as never)
  await answer(runId)
  expect((await runtime.wait(runId)).error).toBeNull()
  return withSteps(runId)
}

async function stopped(stop: typeof cancelRun): Promise<Run> {
  const runId = await begin()
  await stop(runtime.ctx, { runId, reason: `because of ${SECRET}` })
  await runtime.wait(runId)
  return withSteps(runId)
}

describe('a vault value in the texts of a run', () => {
  test('every read of runs, tasks and home is covered here', () => {
    const reads = Object.entries(KINDS).filter(
      ([name, kind]) => /^(runs|tasks|home)\./.test(name) && kind !== 'mutation',
    )
    expect(Object.keys(READS).sort()).toEqual(reads.map(([name]) => name).sort())
    const rest = Object.values(RUN_ENDPOINTS).flatMap(({ method, path }) => (method === 'GET' ? [path] : []))
    expect(rest.sort()).toEqual(
      ['calls/{runId}', 'events/{runId}', 'history/{runId}', 'runs', 'runs/export', 'status/{runId}', 'value/{runId}']
        .map((at) => `/api/workflow/${at}`)
        .concat('/api/workflows/{id}/failures', '/api/workflows/{id}/open-runs'),
    )
  })

  test.each(Object.entries(READS))('is not in the answers of %s', async (name, { inputs, words }) => {
    const told: string[] = []
    for (const run of runs) {
      for (const input of inputs(run)) {
        const { status, text } = await callProcedure(visitor, name, input)
        expect(status, text).toBe(200)
        told.push(text)
      }
    }
    expect(told.filter((text) => text.includes(PART))).toEqual([])
    expect(told.some((text) => text.includes('***'))).toBe(words)
  })

  test('is not in the verdicts on runs that are tried on a draft', async () => {
    for (const { runId, workflowId } of runs) {
      const body = { version: 1, runIds: [runId], reveal: true }
      const { status, text } = await callProcedure(visitor, 'workflows.backtestRuns', { id: workflowId, body })
      expect(status, text).toBe(200)
      expect(text).not.toContain(PART)
      const told = await backtestWorkflow(runtime.ctx, { id: workflowId, body: { runIds: [runId], each: true } }, never)
      expect(told.runs).toHaveLength(1)
      expect(JSON.stringify(told)).not.toContain(PART)
    }
  })

  test('is not in what a change would make of a run, also with the values of sensitive fields', async () => {
    for (const { runId } of runs) {
      const { status, text } = await callProcedure(visitor, 'runs.whatIf', { runId, body: { reveal: true } })
      expect(status, text).toBe(200)
      expect(text).not.toContain(PART)
      expect(JSON.stringify(await whatIf(runtime.ctx, { runId, body: {} }, never))).not.toContain(PART)
    }
  })

  test('is not in REST answers: status, history, calls, values, list, export, events, cancel and terminate', async () => {
    const { ctx } = runtime
    const told: Record<string, unknown> = { list: await listRuns(ctx, {}) }
    told.export = await new Response(await exportRuns(ctx, {})).text()
    for (const { runId } of runs) {
      told[`status of ${runId}`] = await getRunStatus(ctx, { runId })
      told[`history of ${runId}`] = await readHistory(ctx, runId, {})
      const called = await listCalls(ctx, runId, {})
      if (called.calls.length > 0) told[`calls of ${runId}`] = called
      const follow = await openRunEvents(ctx, { runId, lastEventId: null })
      const leave = AbortSignal.timeout(500)
      const events: unknown[] = []
      for await (const event of follow?.(leave) ?? []) events.push(event)
      told[`events of ${runId}`] = events
    }
    expect(Object.keys(told).some((what) => what.startsWith('calls'))).toBe(true)
    const [, , done] = runs
    told.value = await readValue(ctx, done?.runId ?? '', { field: 'result' })
    const [cancelled, terminated] = runs.slice(-2)
    told.cancel = await cancelRun(ctx, { runId: cancelled?.runId })
    told.terminate = await terminateRun(ctx, { runId: terminated?.runId })
    for (const [what, answer] of Object.entries(told)) {
      const text = JSON.stringify(answer)
      expect(text, what).not.toContain(PART)
      expect(text, what).toContain('***')
    }
  })
})
