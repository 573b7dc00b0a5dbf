import { parseRetryAfter } from './backoff'
import type { StepResult } from './protocol'
import { type Op, Ops } from './protocol'
import { signature } from './sign'
import type { HandlerAnswer, HandlerCall } from './types'

/** A call's knowledge of its run. Strings hold JSON, parsed for each call because user code may change the result. */
export interface CallState {
  runId: string
  functionId: string
  /** `undefined` asks for the next operation; an id asks for that planned step. */
  stepId: string | undefined
  event: string
  /** Results by step id, in the order in which they arrived. */
  memo: ReadonlyMap<string, string>
  attempt: number
  maxAttempts: number
  generation: string
  jobId: string
  planOnly: boolean
}

/** The SDK sends this back with each checkpoint: the job and its fencing token. */
export function claimRef(jobId: string, generation: string): string {
  return `${generation}:${jobId}`
}

export function parseClaimRef(ref: string): { jobId: string; generation: string } | undefined {
  const found = /^(\d{1,18}):(.+)$/s.exec(ref)
  return found?.[1] && found[2] ? { generation: found[1], jobId: found[2] } : undefined
}

export function buildCall(state: CallState, appUrl: string, signingKey: string | undefined, now: number): HandlerCall {
  const event: unknown = JSON.parse(state.event)
  const url = new URL(appUrl)
  url.searchParams.set('fnId', state.functionId)
  url.searchParams.set('stepId', state.stepId ?? 'step')
  const stack = [...state.memo.keys()]
  const body = {
    event,
    events: [JSON.parse(state.event)],
    steps: Object.fromEntries([...state.memo].map(([id, value]) => [id, JSON.parse(value)])),
    defers: {},
    version: 2,
    use_api: false,
    ctx: {
      run_id: state.runId,
      fn_id: state.functionId,
      qi_id: claimRef(state.jobId, state.generation),
      env: 'embedded',
      step_id: state.stepId ?? 'step',
      attempt: state.attempt,
      max_attempts: state.maxAttempts,
      disable_immediate_execution: state.planOnly,
      use_api: false,
      stack: { stack, current: stack.length },
    },
  }
  const headers: Record<string, string> = {
    host: url.host,
    'content-type': 'application/json',
    'x-run-id': state.runId,
    'x-inngest-req-version': '2',
  }
  if (signingKey) headers['x-inngest-signature'] = signature(signingKey, body, now)
  return { method: 'POST', url: url.href, headers, body }
}

/** The SDK's answer: operations, the end of the run, a failure, or a stale call. */
export type Outcome =
  | { kind: 'ops'; ops: Op[]; final: boolean; retryAfterMs: number | undefined }
  | { kind: 'returned'; output: string }
  /** An error outside the steps. `steps` are results that are not stored yet. */
  | { kind: 'failed'; error: unknown; final: boolean; retryAfterMs: number | undefined; steps?: StepResult[] }
  | { kind: 'stale' }

/** Interprets an answer by its status and headers, as the real server does. */
export function classify(answer: HandlerAnswer, now: number): Outcome {
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([key, value]) => [key.toLowerCase(), value]))
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now)
  const final = headers['x-inngest-no-retry'] === 'true'
  const failed = (message: string): Outcome => ({ kind: 'failed', error: plainError(message), final, retryAfterMs })
  if (answer.status === 200 || answer.status === 206) {
    if (!headers['x-inngest-sdk']) return failed('The answer did not come from the SDK')
    if (answer.status === 200) return { kind: 'returned', output: answer.body || 'null' }
    const ops = Ops.safeParse(parseJson(answer.body))
    return ops.success ? { kind: 'ops', ops: ops.data, final, retryAfterMs } : failed('The SDK sent an unknown answer')
  }
  const error = parseJson(answer.body)
  if (typeof error !== 'object' || error === null) return failed(`The SDK answered ${answer.status}`)
  if (answer.status === 400 && 'name' in error && error.name === 'StaleDispatchError') return { kind: 'stale' }
  if ('message' in error && typeof error.message === 'string') return { kind: 'failed', error, final, retryAfterMs }
  return failed('error' in error && typeof error.error === 'string' ? error.error : `The SDK answered ${answer.status}`)
}

/** An error in the form that the SDK sends and expects. */
export function plainError(message: string, name = 'Error'): Record<string, unknown> {
  return { name, message, stack: '', __serialized: true }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
