import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import { postEvent } from '@/server/events/post'
import { pinnedDefinition } from '@/server/run-store/definition'
import type { PresentedRun } from '@/server/runs/present'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { steps } from '@/server/steps/registry'
import { createTool } from '@/server/tools/lifecycle'
import { setVaultSecret } from '@/server/vault/set'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { versionToRun } from '@/server/workflows/version-to-run'
import { newAgent } from '../agents/support'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { SETTINGS } from './world'

/** Texts with a special meaning in replacements, templates, JSON, HTML, JavaScript and shells. */
const ODD =
  "$& $1 $$ $` $' ${v} $${v} ${secrets.TOKEN} {{v}} \"double\" 'single' \\ \\n\nnext\r\nline\t</script> `id` %s %41 & = \u2028 👍"
const SECRET = 'sk-planted-value-4711'

let database: FreshDatabase
let runtime: TestRuntime
let outside: Outside
let model: ModelServer
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  // It returns the body, or else the query and the path.
  outside = await startOutside(({ url, body }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    const given = body === '' ? { v: searchParams.get('v'), path: decodeURIComponent(pathname.slice(1)) } : { v: body }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(given))
  })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, SETTINGS)
  await setVaultSecret(runtime.ctx, { name: 'TOKEN', value: SECRET, hosts: [new URL(outside.url).host] })
})
afterAll(async () => {
  const seen = JSON.stringify([outside.seen.map(({ url, body }) => [url, body]), model.calls])
  await runtime.stop()
  await outside.stop()
  await model.close()
  await database.close()
  expect(seen).not.toContain(SECRET)
})

/** A run of one step with the odd text in START, or of the steps in `more`. */
async function runOf(step: object, more: object = {}, until?: (run: PresentedRun) => boolean): Promise<PresentedRun> {
  const { id } = await createWorkflow(runtime.ctx, {
    name: 'Odd',
    payload: { v: { type: 'string' } },
    steps: [{ id: 'it', ...step }],
    ...more,
  })
  await publishWorkflow(runtime.ctx, { id })
  // A process parses a definition once: later runs would see any change that a run made to it.
  const { definition } = await versionToRun(runtime.ctx, id, { wanted: undefined, fromCache: false })
  frozen(definition)
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: { v: ODD } })
  const run = await runtime.wait(runId, until)
  expect(await pinnedDefinition(runtime.ctx, id, run.workflowVersion)).toBe(definition)
  return run
}

const completed = async (step: object, more: object = {}) => {
  const run = await runOf(step, more)
  expect(run).toMatchObject({ status: 'completed', error: null })
  return run
}
const paused = (run: PresentedRun) => run.status === 'paused'

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const item of Object.values(Object.freeze(value))) frozen(item)
  return value
}

/** How the odd text passes through each step type. A type without an entry fails the type check. */
const THROUGH: Record<keyof typeof steps, () => Promise<void>> = {
  'call-agent': async () => {
    const { id: agentId } = await newAgent(runtime.ctx, { outputSchema: { type: 'object' } }, model)
    model.answer(() => ({ text: JSON.stringify({ said: ODD }) }))
    const run = await completed({ type: 'call-agent', agentId, message: 'Say ${v}', dataContext: { v: '${v}' } })
    expect(run.data).toMatchObject({ said: ODD })
    const { content } = model.calls[0]?.body.messages.at(-1) ?? {}
    expect(content[0].text).toBe(`Say ${ODD}`)
    // As JSON in which it cannot end the element around it.
    expect(JSON.parse(/^<data_context>\n(.*)\n<\/data_context>$/s.exec(content[1].text)?.[1] ?? '')).toEqual({ v: ODD })
  },
  'call-tool': async () => {
    const { id: echo } = await createTool(runtime.ctx, {
      name: 'Echo',
      kind: 'http',
      config: { method: 'POST', url: outside.url, body: '${args.v}', bodyType: 'text' },
    })
    const { id: script } = await createTool(runtime.ctx, {
      name: 'Same',
      kind: 'script',
      config: { code: 'return { v: `${args.v}`, all: dataContext.v }' },
    })
    const called = await completed({ type: 'call-tool', toolId: echo, args: { v: '${v}' }, saveAs: 'got' })
    expect(called.data).toMatchObject({ got: { v: ODD } })
    const ran = await completed({ type: 'call-tool', toolId: script, args: { v: '${v}' }, saveAs: 'got' })
    expect(ran.data).toMatchObject({ got: { v: ODD, all: ODD } })
  },
  'http-request': async () => {
    const call = (fields: object) => completed({ type: 'http-request', saveAs: 'got', ...fields })
    const url = outside.url
    expect((await call({ url, query: { v: '${v}' } })).data).toMatchObject({ got: { v: ODD } })
    expect((await call({ url: `${url}/\${v}` })).data).toMatchObject({ got: { path: ODD } })
    const post = { method: 'POST', url }
    expect((await call({ ...post, body: '${v}', bodyType: 'text' })).data).toMatchObject({ got: { v: ODD } })
    const json = await call({ ...post, body: { v: '${v}', in: 'x${v}' } })
    expect(json.data).toMatchObject({ got: { v: JSON.stringify({ v: ODD, in: `x${ODD}` }) } })
    const form = await call({ ...post, body: { v: '${v}' }, bodyType: 'form' })
    expect(new URLSearchParams(String((form.data as { got: { v: string } }).got.v)).get('v')).toBe(ODD)
    // The secret beside the value is sent, and not the one that the value names.
    await call({ ...post, headers: { authorization: '${secrets.TOKEN}' }, body: '${v}', bodyType: 'text' })
    expect(outside.seen.at(-1)).toMatchObject({ headers: { authorization: SECRET }, body: ODD })
    const refused = await runOf({ type: 'http-request', url, headers: { 'x-v': '${v}' } })
    expect(refused).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('The header x-v') } })
  },
  'run-script': async () => {
    const code = 'return { v: args.v, all: dataContext.v, made: `${args.v}`, code: "${v}" }'
    const run = await completed({ type: 'run-script', code, args: { v: '${v}' }, saveAs: 'got' })
    expect(run.data).toMatchObject({ got: { v: ODD, all: ODD, made: ODD, code: '${v}' } })
    expect(run.stepExecutionHistory[0]?.inputData).toEqual({ args: { v: ODD } })
  },
  'run-workflow': async () => {
    const child = await createWorkflow(runtime.ctx, {
      name: 'Child',
      payload: { v: { type: 'string' } },
      steps: [{ id: 'end', type: 'end-flow', output: { v: '${v}', in: 'x${v}' } }],
    })
    await publishWorkflow(runtime.ctx, { id: child.id })
    const run = await completed({ type: 'run-workflow', workflowId: child.id, input: { v: '${v}' }, saveAs: 'got' })
    expect(run.data).toMatchObject({ got: { v: ODD, in: `x${ODD}` } })
  },
  'collect-inputs': async () => {
    const output = { answer: { type: 'string' } }
    const run = await runOf({ type: 'collect-inputs', title: '${v}', message: 'x${v}', output }, {}, paused)
    expect(run.pauseSignal).toMatchObject({ title: ODD, message: `x${ODD}` })
    await resumeRun(runtime.ctx, { runId: run.runId, body: { type: 'collect_inputs', data: { answer: ODD } } })
    expect((await runtime.wait(run.runId)).data).toMatchObject({ answer: ODD })
  },
  'request-user-action': async () => {
    const actions = [{ id: 'go', label: '${v}' }]
    const run = await runOf({ type: 'request-user-action', title: '${v}', message: 'x${v}', actions }, {}, paused)
    expect(run.pauseSignal).toMatchObject({ title: ODD, message: `x${ODD}`, actions: [{ id: 'go', label: ODD }] })
    const body = { type: 'request_user_action', actionId: 'go', actionValue: ODD }
    await resumeRun(runtime.ctx, { runId: run.runId, body })
    expect((await runtime.wait(run.runId)).data).toMatchObject({ it: { actionId: 'go', actionValue: ODD } })
  },
  'wait-for-event': async () => {
    const step = { type: 'wait-for-event', event: 'odd', key: '${v}', when: '${event.data.v} == ${v}', saveAs: 'got' }
    const { runId } = await runOf(step, {}, (run) => run.stepExecutionHistory.length > 0)
    await postEvent(runtime.ctx, { name: 'odd', key: ODD, data: { v: ODD } })
    expect((await runtime.wait(runId)).data).toMatchObject({ got: { key: ODD, data: { v: ODD } } })
  },
  delay: async () => {
    const run = await runOf({ type: 'delay', until: '${v}' })
    expect(run.error).toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining(`"${ODD}" is not a time`),
    })
  },
  parallel: async () => {
    const more = {
      steps: [
        { id: 'it', type: 'parallel', branches: [{ id: 'one', label: '${v}' }] },
        { id: 'set', type: 'set-data', values: { copy: '${v}' } },
      ],
      edges: [{ from: 'it', to: 'set', on: 'one' }],
    }
    expect((await completed({}, more)).data).toMatchObject({ copy: ODD })
  },
  'for-each': async () => {
    const more = {
      steps: [
        { id: 'it', type: 'for-each', items: ['${v}', { v: 'x${v}' }], result: '${item}', saveAs: 'got' },
        { id: 'set', type: 'set-data', values: { copy: '${item}' } },
      ],
      edges: [{ from: 'it', to: 'set', on: 'each' }],
    }
    expect((await completed({}, more)).data).toMatchObject({ got: { results: [ODD, { v: `x${ODD}` }] } })
  },
  condition: async () => {
    const run = await completed({ type: 'condition', when: '${v} == ${_.v} && contains(${v}, "${secrets.TOKEN}")' })
    expect(run.stepExecutionHistory[0]).toMatchObject({ exit: 'true' })
  },
  switch: async () => {
    const cases = [{ id: 'odd', when: `startsWith(\${v}, "$& $1 $$ ") && \${v} == ${JSON.stringify(ODD)}` }]
    const run = await completed({ type: 'switch', cases })
    expect(run.stepExecutionHistory[0]).toMatchObject({ exit: 'odd' })
  },
  'set-data': async () => {
    const values = { copy: '${v}', in: ['x${v}y${v}'], otherwise: '${none ?? "$& ${v}"}' }
    const run = await completed({ type: 'set-data', values, compute: { sum: '${v} + "$&"' } })
    expect(run.data).toEqual({ v: ODD, copy: ODD, in: [`x${ODD}y${ODD}`], otherwise: '$& ${v}', sum: `${ODD}$&` })
  },
  'end-flow': async () => {
    const run = await completed({ type: 'end-flow', output: { v: '${v}', deep: [{ in: 'x${v}' }] } })
    expect(run.result).toEqual({ v: ODD, deep: [{ in: `x${ODD}` }] })
  },
  'fail-flow': async () => {
    const run = await runOf({ type: 'fail-flow', code: 'ODD', message: 'x${v}' })
    expect(run.error).toMatchObject({ code: 'ODD', message: `x${ODD}` })
  },
}

describe('text that looks like code or a template is passed on unchanged, and changes no definition', () => {
  test.each(Object.keys(steps) as (keyof typeof steps)[])('%s', (type) => THROUGH[type]())

  test('into nothing that is stored, either', async () => {
    const rows = await database.sql<JsonObject[]>`
      select row_to_json(s)::text as row from step_records s union all select row_to_json(r)::text from runs r`
    expect(rows.length).toBeGreaterThan(20)
    expect(JSON.stringify(rows)).not.toContain(SECRET)
  })
})
