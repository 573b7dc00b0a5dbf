import type { JsonObject, JsonValue } from '../definition/json'
import { itemExample, stateExample, versionExample } from '../versioned/examples'
import { SAMPLE_WORKFLOWS } from './samples'

/** A sample of every new service, as in an answer. */

export const WORKFLOW_ID = 'wf_order_approval'

const sample = (id: string) => SAMPLE_WORKFLOWS.find((workflow) => workflow.id === id)?.definition
const order = sample(WORKFLOW_ID)

export const createWorkflow = {
  name: 'Order approval',
  description: 'Asks for an order, then for a decision about it.',
  initialStep: 'order',
  steps: order?.steps ?? [],
  edges: order?.edges ?? [],
  payload: {},
} satisfies JsonObject

export const workflowItem = itemExample(WORKFLOW_ID, createWorkflow)

const { initialStep, steps, edges, payload } = createWorkflow
const graph = { initialStep, steps, edges, payload }

export const workflow = { ...workflowItem, ...graph, ...stateExample } satisfies JsonObject

export const warnings: JsonValue = [
  {
    severity: 'warning',
    code: 'W_NO_END',
    message: 'The path ends at order without an end step; the result will be all run data.',
    stepId: 'order',
  },
]

export const versionItem = versionExample(WORKFLOW_ID, workflow)
export const version = { ...versionItem, description: workflow.description, ...graph } satisfies JsonObject

export const inputSchema = {
  success: true,
  data: { workflowId: 'wf_hello', payload: { name: { type: 'string', description: 'Who is greeted' } } },
} satisfies JsonObject

const exits = ['approve', 'reject'].map((exit) => ({ stepId: 'decision', exit, reached: true, assumed: false }))

export const simulation = {
  workflowId: WORKFLOW_ID,
  version: 1,
  truncated: false,
  coverage: { steps: { total: 3, reached: 3 }, exits: { total: 3, reached: 3 } },
  unreached: [],
  unreachable: [],
  exits: [{ stepId: 'order', exit: 'next', reached: true, assumed: false }, ...exits],
  failures: [],
  unknown: [],
  longestPath: { steps: 3, visits: ['order', 'decision', 'end'] },
  pathsTried: 1,
  paths: [
    { outcome: 'completed', error: null, steps: 3, visits: ['order', 'decision', 'end'], assumed: false, input: {} },
  ],
  mayAsk: [],
} satisfies JsonObject
