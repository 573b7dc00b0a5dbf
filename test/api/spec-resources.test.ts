import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type Api, startApi } from '../support/api'

/** One test per line of the document's resource tables, named after the line. */
let api: Api
let listed: Record<string, unknown>
let paused: Answer['body']
let acted: Answer['body']
let completed: Answer['body']
let failed: Answer['body']

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const status = async (runId: string) => (await api.call('GET', `/api/workflow/status/${runId}`)).body
async function until(runId: string, holds: (run: Answer['body']) => boolean): Promise<Answer['body']> {
  for (const deadline = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const run = await status(runId)
    if (holds(run)) return run
    if (Date.now() > deadline) throw new Error(`The run is still ${JSON.stringify(run)}`)
  }
}

beforeAll(async () => {
  api = await startApi()
  const list = (await api.call('GET', '/api/workflows')).body as Record<string, unknown>[]
  listed = list.find((item) => item.id === 'wf_hello') ?? {}
  const order = (await api.call('POST', '/api/workflow/start-async/wf_order_approval', {})).body.runId
  paused = await until(order, (run) => run.status === 'paused')
  await api.call('POST', `/api/workflow/resume/${order}`, { type: 'collect_inputs', data: { item: 'Lamp', amount: 7 } })
  acted = await until(order, (run) => run.pauseSignal?.type === 'request_user_action')
  completed = (await api.call('POST', '/api/workflow/start/wf_hello', { name: 'Ada' })).body
  const bad = { name: 'bad', steps: [{ id: 'bad', type: 'call-tool', name: 'A bad step', toolId: 'tool_throws' }] }
  const { id } = (await api.call('POST', '/api/workflows', bad)).body
  failed = (await api.call('POST', `/api/workflow/start/${id}`, {})).body
})
afterAll(() => api.stop())

const field = (line: string, check: () => void | Promise<void>) => test(line, check)

describe('Workflow definition: fields in the list response', () => {
  field('id | string | Workflow identifier, used as :id and as :workflowId', async () => {
    expect(listed.id).toBe('wf_hello')
    expect((await api.call('GET', `/api/workflows/${listed.id}`)).body.id).toBe(listed.id)
    expect((await api.call('GET', `/api/workflow/metadata/input/${listed.id}`)).status).toBe(200)
  })
  field('name | string', () => expect(listed.name).toEqual(expect.any(String)))
  field('description | string', () => expect(listed.description).toEqual(expect.any(String)))
  field('status | string | One of draft, published, archived', () =>
    expect(['draft', 'published', 'archived']).toContain(listed.status),
  )
  field('createdAt | string | ISO 8601 timestamp', () => expect(listed.createdAt).toMatch(ISO))
  field('updatedAt | string | ISO 8601 timestamp', () => expect(listed.updatedAt).toMatch(ISO))
})

describe('Workflow definition: fields in the create request', () => {
  const sample = {
    name: 'Sample',
    description: 'As in the document',
    initialStep: 'second',
    steps: [
      { type: 'collect-inputs', id: 'first', output: { a: { type: 'string' } } },
      { type: 'call-tool', id: 'second', toolId: 'tool_greet', args: { name: 'x' } },
      { type: 'end-flow', id: 'third' },
    ],
    edges: [
      { from: 'first', to: 'second' },
      { from: 'second', to: 'third' },
    ],
    payload: {},
  }
  let created: Record<string, unknown>
  beforeAll(async () => {
    created = (await api.call('POST', '/api/workflows', sample)).body
  })
  for (const [name, line] of [
    ['name', 'name | string'],
    ['description', 'description | string'],
    ['steps', 'steps | array of step'],
    ['edges', 'edges | array of edge'],
  ] as const) {
    field(line, () => expect(created[name]).toEqual(sample[name]))
  }
  field('initialStep | string | Id of the step where a run begins', async () => {
    expect(created.initialStep).toBe('second')
    const run = (await api.call('POST', `/api/workflow/start/${created.id}`, {})).body
    expect(run.stepExecutionHistory[0].stepId).toBe('second')
  })
  field('payload | object | The START payload schema … The create sample uses an empty object.', async () => {
    expect(created.payload).toEqual({})
    const payload = { who: { type: 'string', description: 'Who' }, age: { type: 'number' } }
    expect((await api.call('POST', '/api/workflows', { name: 'P', payload })).body.payload).toEqual(payload)
  })
  field('Step: type | string | Step types that appear: collect-inputs, end-flow, call-tool', () => {
    expect((created.steps as { type: string }[]).map((step) => step.type)).toEqual([
      'collect-inputs',
      'call-tool',
      'end-flow',
    ])
  })
  field('Step: id | string | Unique within the workflow', async () => {
    const twice = {
      name: 'T',
      steps: [
        { id: 'a', type: 'end-flow' },
        { id: 'a', type: 'end-flow' },
      ],
    }
    const { id } = (await api.call('POST', '/api/workflows', twice)).body
    const refused = await api.call('POST', `/api/workflows/${id}/publish`, {})
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { details: [{ code: 'DUPLICATE_STEP_ID', stepId: 'a' }] } },
    })
  })
  field('Step: output | object | Used by collect-inputs: map from field name to an object with type (string)', () => {
    expect(paused).toMatchObject({ pauseSignal: { fields: { item: { type: 'string' } } } })
  })
  field('Edge: from | to | Step id', async () => {
    const dangling = {
      name: 'D',
      steps: [{ id: 'a', type: 'call-tool', toolId: 'tool_add' }],
      edges: [{ from: 'a', to: 'b' }],
    }
    const { id } = (await api.call('POST', '/api/workflows', dangling)).body
    expect((await api.call('POST', `/api/workflows/${id}/publish`, {})).body.error.details[0].code).toBe(
      'DANGLING_EDGE',
    )
  })
  field(
    'Step configurations may reference run data with ${fieldName}. The whole root object … with ${_}.',
    async () => {
      const { id } = (
        await api.call('POST', '/api/workflows', {
          name: 'E',
          payload: { a: { type: 'number' } },
          steps: [{ id: 'end', type: 'end-flow', output: { one: '${a}', all: '${_}', text: 'a is ${a}' } }],
        })
      ).body
      const { result } = (await api.call('POST', `/api/workflow/start/${id}`, { a: 5 })).body
      expect(result).toEqual({ one: 5, all: { a: 5 }, text: 'a is 5' })
    },
  )
})

describe('Workflow run', () => {
  field('runId | string | Identifier of the run', () => expect(completed.runId).toEqual(expect.any(String)))
  field('workflowId | string', () => expect(completed.workflowId).toBe('wf_hello'))
  field('status | string | running, completed, failed, paused', () => {
    expect([completed.status, failed.status, paused.status]).toEqual(['completed', 'failed', 'paused'])
  })
  field('currentStepId | string | Step currently executing', () => {
    expect([paused.currentStepId, acted.currentStepId]).toEqual(['order', 'decision'])
  })
  field('pauseSignal | object or null | Null when not paused; otherwise a pause descriptor', () => {
    expect(completed.pauseSignal).toBeNull()
    expect(paused.pauseSignal).toEqual(expect.any(Object))
  })
  field('data | object | Run data: the input values plus values produced by steps', () => {
    expect(completed.data).toEqual({ name: 'Ada', greeting: 'Hello, Ada!' })
  })
  field('stepExecutionHistory | array of step record | Completed and in-progress steps', () => {
    expect(acted.stepExecutionHistory).toMatchObject([
      { stepId: 'order', status: 'completed' },
      { stepId: 'decision', status: 'running' },
    ])
  })
  field('result | object or null | Final output; null until the run completes', () => {
    expect(paused.result).toBeNull()
    expect(completed.result).toEqual({ message: 'Hello, Ada!' })
    expect(failed.result).toBeNull()
  })
  field('startTime | string | ISO 8601 timestamp', () => expect(completed.startTime).toMatch(ISO))
})

describe('Step record', () => {
  const ended = () => completed.stepExecutionHistory[0]
  const open = () => paused.stepExecutionHistory[0]
  const broken = () => failed.stepExecutionHistory[0]
  field('stepId | string | Unique step identifier', () => expect(ended().stepId).toBe('greet'))
  field('stepType | string | For example collect-inputs, call-tool', () =>
    expect([open().stepType, ended().stepType]).toEqual(['collect-inputs', 'call-tool']),
  )
  field('stepName | string | Human-readable name', () => expect(broken().stepName).toBe('A bad step'))
  field('status | string | running, completed, failed', () =>
    expect([open().status, ended().status, broken().status]).toEqual(['running', 'completed', 'failed']),
  )
  field('startTime | string | ISO 8601', () => expect(ended().startTime).toMatch(ISO))
  field('endTime | string | ISO 8601; present if the step ended', () => {
    expect(ended().endTime).toMatch(ISO)
    expect(open()).not.toHaveProperty('endTime')
  })
  field('duration | integer | Milliseconds', () =>
    expect(ended().duration).toBe(Date.parse(ended().endTime) - Date.parse(ended().startTime as string)),
  )
  field('inputData | object | Data given to the step', () =>
    expect(ended().inputData).toMatchObject({ args: { name: 'Ada' } }),
  )
  field('outputData | object | Data produced by the step', () =>
    expect(ended().outputData).toEqual({ greeting: 'Hello, Ada!' }),
  )
  field('error | string | Error message; present if the step failed', () => {
    expect(broken().error).toBe('This tool always fails.')
    expect(ended()).not.toHaveProperty('error')
  })
})

describe('Pause descriptor and schema records', () => {
  field('collect_inputs | type, stepId, fields (map from field name to an object with type)', () => {
    expect(paused.pauseSignal).toMatchObject({
      type: 'collect_inputs',
      stepId: 'order',
      fields: { amount: { type: 'number' } },
    })
  })
  field('request_user_action | type, stepId, actions (array of objects with id string and label string)', () => {
    expect(acted.pauseSignal).toMatchObject({
      type: 'request_user_action',
      stepId: 'decision',
      actions: [{ id: 'approve', label: 'Approve' }, {}],
    })
  })
  field(
    'Workflow input schema | success (boolean), data { workflowId, payload: map of { type, description } }',
    async () => {
      const { body } = await api.call('GET', '/api/workflow/metadata/input/wf_hello')
      expect(body).toEqual({
        success: true,
        data: { workflowId: 'wf_hello', payload: { name: { type: 'string', description: expect.any(String) } } },
      })
    },
  )
  field(
    'Tool invocation result | success, data (a number is possible), debug.executionTime (integer), error only on failure',
    async () => {
      const { body } = await api.call('POST', '/api/tools/tool_add/invoke', { args: { a: 1, b: 1 } })
      expect(body).toEqual({ success: true, data: 2, debug: { executionTime: expect.any(Number) } })
      expect(Number.isInteger(body.debug.executionTime)).toBe(true)
      const bad = (await api.call('POST', '/api/tools/tool_throws/invoke', {})).body
      expect(bad.error).toEqual({ message: expect.any(String), details: expect.any(Array), code: 'EXECUTION_ERROR' })
      expect(bad.error.details.every((detail: unknown) => typeof detail === 'string')).toBe(true)
    },
  )
})
