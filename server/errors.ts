import type { StepUsage } from './definition/agent'
import type { JsonValue } from './definition/json'

/** Every error code of the product, with its HTTP status and its default message for callers. */
export const ERRORS = {
  INVALID_INPUT: { status: 400, message: 'Invalid input' },
  VALIDATION_FAILED: { status: 400, message: 'Invalid input: the workflow has problems' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized' },
  FORBIDDEN: { status: 403, message: 'Forbidden' },
  NOT_ASSIGNED: { status: 403, message: 'The task is assigned to other people' },
  SELF_APPROVAL: { status: 403, message: 'Whoever started the run may not decide this' },
  WORKFLOW_NOT_FOUND: { status: 404, message: 'Workflow not found' },
  RUN_NOT_FOUND: { status: 404, message: 'Run not found' },
  AGENT_NOT_FOUND: { status: 404, message: 'Agent not found' },
  TOOL_NOT_FOUND: { status: 404, message: 'Tool not found' },
  THREAD_NOT_FOUND: { status: 404, message: 'Thread not found' },
  TURN_NOT_FOUND: { status: 404, message: 'Turn not found' },
  FILE_NOT_FOUND: { status: 404, message: 'File not found' },
  NOT_FOUND: { status: 404, message: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'Method not allowed' },
  WORKFLOW_ARCHIVED: { status: 409, message: 'The workflow is archived' },
  WORKFLOW_NOT_ARCHIVED: { status: 409, message: 'The workflow is not archived' },
  AGENT_ARCHIVED: { status: 409, message: 'The agent is archived' },
  TOOL_ARCHIVED: { status: 409, message: 'The tool is archived' },
  VERSION_CONFLICT: { status: 409, message: 'Somebody else saved a newer version' },
  VERSION_MISFIT: { status: 409, message: 'The run does not fit the version' },
  DEFINITIONS_DRIFTED: { status: 409, message: 'The workspace has changes that were not applied' },
  THREAD_WAITING: { status: 409, message: 'The thread waits for a decision' },
  RUN_NOT_PAUSED: { status: 409, message: 'The run is not paused' },
  ALREADY_VOTED: { status: 409, message: 'This person has already voted' },
  RUN_ALREADY_ENDED: { status: 409, message: 'The run has already ended' },
  IDEMPOTENCY_KEY_REUSED: { status: 409, message: 'This idempotency key was used with another request' },
  CONFLICT: { status: 409, message: 'Conflict' },
  FILE_TOO_LARGE: { status: 413, message: 'File too large' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'Request body too large' },
  HEADERS_TOO_LARGE: { status: 431, message: 'Request headers too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Unsupported content type' },
  RATE_LIMITED: { status: 429, message: 'Too many requests' },
  TOO_MANY_STREAMS: { status: 429, message: 'Too many open event streams' },
  BUDGET_EXCEEDED: { status: 429, message: 'A limit of what agents may use is reached' },
  THREAD_BUSY: { status: 429, message: 'The thread is busy' },
  AGENT_NO_STRUCTURED_OUTPUT: { status: 400, message: 'Agent does not have structured output' },
  AGENT_SUPERVISOR: { status: 400, message: 'Supervisor agents cannot be invoked' },
  MESSAGE_REQUIRED: { status: 400, message: 'message is required' },
  FILE_NOT_SUPPORTED: { status: 400, message: 'A model cannot read the files' },
  OUTPUT_SCHEMA_MISMATCH: { status: 500, message: 'The answer does not match the output schema' },
  MODEL_ERROR: { status: 500, message: 'Internal server error: the model gave no answer' },
  TOOL_INVOCATION_FAILED: { status: 500, message: 'Tool invocation failed' },
  INTERNAL: { status: 500, message: 'Internal server error' },
  UNAVAILABLE: { status: 503, message: 'The service is temporarily unavailable' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof ERRORS

/** Whether an error of the API has this code; a run's failure may have another one. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code)
}

/** A place in the request and the problem there. */
export type ErrorDetail = { path?: string; message: string; [extra: string]: JsonValue | undefined }

interface AppErrorOptions {
  message?: string
  details?: ErrorDetail[]
  headers?: Record<string, string>
  cause?: unknown
}

/** The only error whose message reaches a caller. */
export class AppError extends Error {
  override name = 'AppError'
  readonly details: ErrorDetail[]
  readonly headers: Record<string, string>

  constructor(
    readonly code: ErrorCode,
    options: AppErrorOptions = {},
  ) {
    super(options.message ?? ERRORS[code].message, options.cause === undefined ? undefined : { cause: options.cause })
    this.details = options.details ?? []
    this.headers = options.headers ?? {}
  }

  get status() {
    return ERRORS[this.code].status
  }
}

/** The caller disconnected; nobody reads this error. */
export class CallerGone extends AppError {
  override name = 'CallerGone'
  constructor() {
    super('CONFLICT', { message: 'The caller disconnected' })
  }
}

/** Nothing was started because no slot is free. Does not count as an attempt of a step; API callers get 503. */
export class Busy extends AppError {
  override name = 'Busy'
  constructor(
    message: string,
    readonly retryAfterMs: number,
  ) {
    super('UNAVAILABLE', { message, headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } })
  }
}

/** The process ends before this work does. Nobody knows how far it came, so a repeat sends the same keys. */
export class Stopping extends Busy {
  override name = 'Stopping'
  constructor() {
    super('The service is stopping. Try again shortly.', 1_000)
  }
}

/** A step failure that may be temporary. Only this is retried; every other failure is permanent. */
export class TransientError extends Error {
  override name = 'TransientError'
  constructor(
    message: string,
    /** The delay that the other side asked for, in milliseconds. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions & { code?: string; usage?: StepUsage | undefined },
  ) {
    super(message, options)
    this.code = options?.code ?? 'TRANSIENT'
    this.usage = options?.usage ?? null
  }

  /** The code that history shows when the last attempt failed with this. */
  readonly code: string
  /** An agent's usage before it failed. */
  readonly usage: StepUsage | null
}

/** A step's permanent failure with its own code. */
export class StepFailure extends Error {
  override name = 'StepFailure'
  constructor(
    readonly code: string,
    message: string,
    readonly details: string[] = [],
    /** An agent's usage before it failed. */
    readonly usage: StepUsage | null = null,
  ) {
    super(message)
  }
}

/** A state that should never occur. The tag is a fixed string to search the code for. */
export class ImpossibleState extends Error {
  override name = 'ImpossibleState'
  constructor(tag: string, message: string) {
    super(`[${tag}] ${message}`)
  }
}

export function unreachable(value: never): never {
  throw new ImpossibleState('unreachable', `unexpected value ${JSON.stringify(value)}`)
}

/**
 * A cached caller's key was not checked, or is no longer valid (`server/auth/cached-caller.ts`), so nothing was done.
 * The request is then handled for the actual holder of its credential.
 */
export class CallerNotVerified extends Error {
  override name = 'CallerNotVerified'
}
