import { calls } from '../agents/examples'
import type { JsonObject } from '../definition/json'
import { KEY_ID, T0 } from '../versioned/examples'
import { WORKFLOW_ID, workflow } from '../workflows/examples'

export const RUN_ID = 'run_01KAHV6N3C0000G8VJ4M2ZQ5TX'
const T1 = '2026-11-20T09:30:00.012Z'
const T2 = '2026-11-20T09:31:07.480Z'

const collectInputs = {
  type: 'collect_inputs',
  stepId: 'order',
  fields: {
    item: { type: 'string', description: 'What is ordered' },
    amount: { type: 'number', description: 'What it costs' },
  },
  id: 'main:order#1',
  createdAt: T1,
  expiresAt: null,
} satisfies JsonObject

/** The fields every run starts and ends with. */
const head = {
  runId: RUN_ID,
  workflowId: WORKFLOW_ID,
  workflowVersion: 2,
  workflowName: workflow.name,
} satisfies JsonObject
const tail = {
  startTime: T0,
  startedBy: KEY_ID,
  startedVia: 'apiKey',
  retryOf: null,
  cancellation: null,
} satisfies JsonObject

export const pausedRun = {
  ...head,
  status: 'paused',
  outcome: null,
  currentStepId: 'order',
  pauseSignal: collectInputs,
  pauseSignals: [collectInputs],
  data: {},
  stepExecutionHistory: [
    {
      stepId: 'order',
      stepType: 'collect-inputs',
      stepName: 'The order',
      status: 'running',
      startTime: T1,
      inputData: { fields: collectInputs.fields },
      outputData: {},
      visit: 1,
      attempt: 1,
    },
  ],
  result: null,
  error: null,
  ...tail,
} satisfies JsonObject

export const completedRun = {
  ...head,
  workflowId: 'wf_hello',
  workflowName: 'Hello',
  workflowVersion: 1,
  status: 'completed',
  outcome: 'succeeded',
  currentStepId: 'end',
  pauseSignal: null,
  pauseSignals: [],
  data: { name: 'Ada', greeting: 'Hello, Ada!' },
  stepExecutionHistory: [
    {
      stepId: 'greet',
      stepType: 'call-tool',
      stepName: 'Greet',
      status: 'completed',
      startTime: T0,
      endTime: T1,
      duration: 12,
      inputData: { toolId: 'tool_greet', args: { name: 'Ada' } },
      outputData: { greeting: 'Hello, Ada!' },
      visit: 1,
      attempt: 1,
    },
  ],
  result: { message: 'Hello, Ada!' },
  error: null,
  ...tail,
  endTime: T1,
  durationMs: 12,
} satisfies JsonObject

export const failedRun = {
  ...completedRun,
  status: 'failed',
  outcome: 'failed',
  currentStepId: 'greet',
  data: { name: 'Ada' },
  result: null,
  error: { code: 'EXECUTION_ERROR', message: 'This tool always fails.', stepId: 'greet' },
  stepExecutionHistory: [
    {
      stepId: 'greet',
      stepType: 'call-tool',
      stepName: 'Greet',
      status: 'failed',
      startTime: T0,
      endTime: T1,
      duration: 12,
      inputData: { toolId: 'tool_throws', args: {} },
      outputData: {},
      error: 'This tool always fails.',
      errorCode: 'EXECUTION_ERROR',
      visit: 1,
      attempt: 1,
    },
  ],
} satisfies JsonObject

export const runItem = {
  runId: RUN_ID,
  workflowId: WORKFLOW_ID,
  workflowName: workflow.name,
  workflowVersion: 2,
  status: 'completed',
  outcome: 'succeeded',
  currentStepId: 'end',
  startTime: T0,
  endTime: T2,
  durationMs: 67_480,
  startedBy: KEY_ID,
  startedVia: 'apiKey',
  retryOf: null,
  error: null,
} satisfies JsonObject

export const cursor = 'WyIyMDI2LTExLTIwVDA5OjMwOjAwLjAwMFoiLCJydW5fMDFLQUhWNk4zQzAwMDBHOFZKNE0yWlE1VFgiXQ'

export const stopped = {
  success: true,
  runId: RUN_ID,
  workflowId: WORKFLOW_ID,
  status: 'failed',
  outcome: 'cancelled',
  reason: 'The order was withdrawn.',
} satisfies JsonObject

export const repeated = { success: true, runId: 'run_01KAHVB0XM0000Q7C5T9E2KH4R', retryOf: RUN_ID } satisfies JsonObject

export const retriedRuns = {
  retried: [{ runId: repeated.runId, retryOf: RUN_ID }],
  refused: [
    {
      runId: 'run_01KAHV6N3C0000G8VJ4M2ZQ5TY',
      code: 'VERSION_MISFIT',
      message: 'The run does not fit the version',
      details: [
        {
          code: 'DATA_MISFIT',
          message: 'charge reads amount, which has no value.',
          name: 'amount',
          claimed: 'a number',
          found: 'nothing',
          stepId: 'charge',
        },
      ],
    },
  ],
} satisfies JsonObject

export const failures = {
  workflowId: WORKFLOW_ID,
  causes: [
    {
      key: '0c8f1f6d1c0f0a4f8e1a7d3b5c2e9f10d27b64a85e0c93f1b7a2d4e6f8091c3b',
      version: 4,
      stepId: 'sum',
      code: 'EXPRESSION_UNRESOLVED',
      message: '${order.amount} has no value',
      count: 212,
      firstTime: T0,
      lastTime: T2,
      runs: [RUN_ID],
    },
  ],
  of: 215,
  newestOf: 5_000,
} satisfies JsonObject

export const events = [
  'retry: 2000',
  '',
  'id: 41',
  'event: step',
  `data: {"runId":"${RUN_ID}","stepId":"greet","stepType":"call-tool","stepName":"Greet","visit":1,"status":"completed","attempt":1,"startTime":"${T0}","endTime":"${T1}","duration":12}`,
  '',
  'id: 42-end',
  'event: end',
  `data: {"runId":"${RUN_ID}","status":"completed","outcome":"succeeded"}`,
  '',
].join('\n')

export const exported = `${JSON.stringify(completedRun)}\n${JSON.stringify({ nextCursor: cursor })}\n`

export const callList = { runId: RUN_ID, calls, next: null } satisfies JsonObject
