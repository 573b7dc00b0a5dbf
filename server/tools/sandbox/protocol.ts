export interface LogLine {
  level: 'debug' | 'log' | 'info' | 'warn' | 'error'
  text: string
  /** Set on the last line if the script wrote more than is stored. */
  truncated?: true
}

export type FetchFailureCode = 'BLOCKED_HOST' | 'CONNECTION_ERROR' | 'TIMEOUT' | 'HTTP_ERROR' | 'OUTPUT_INVALID'
export type FailureCode = 'EXECUTION_ERROR' | FetchFailureCode

/** Messages from the host to a worker. */
export type HostMessage =
  /** One script at a time. */
  { type: 'run'; request: WorkerRequest } | { type: 'fetched'; id: number; reply: FetchReply }

export interface WorkerRequest {
  code: string
  /** JSON text of `[args, dataContext, context, idempotencyKey]`. */
  input: string
  timeoutMs: number
  memoryMb: number
  maxOutputBytes: number
  /** How often the script may call `fetch`; 0 means it has no `fetch`. */
  maxFetches: number
}

/** A call a script wants to make: texts of bounded size, otherwise exactly as the script wrote it. */
export interface FetchCall {
  url: string
  method: string
  headers: [string, string][]
  body: string | null
}

export type FetchReply =
  /** `json` is the text to parse if it is not the body: numbers no script can represent are texts in it. */
  | { status: number; headers: [string, string][]; body: string; json?: string }
  | { failure: { code: FailureCode; message: string; transient: boolean } }

/** How a script ended. The value stays JSON text until it has left the worker. */
export type Ending =
  | { ok: true; json: string }
  /** `transient`: a call of the script failed, and the same call may succeed later. */
  | { ok: false; code: FailureCode; message: string; details: string[]; transient?: boolean }

/** Messages from a worker to the host. Log lines are sent one by one, so they survive a killed script. */
export type WorkerMessage =
  /** Includes the compiled engine, for workers started later. */
  | { type: 'ready'; engine: WebAssembly.Module }
  /** The script starts now, and so does its time. */
  | { type: 'began' }
  | { type: 'log'; line: LogLine }
  | { type: 'fetch'; id: number; call: FetchCall }
  /** The script can only wait; `seen` is how many replies it has received so far. */
  | { type: 'waits'; seen: number }
  /** `spent`: end this worker; its memory or its engine must not be used again. */
  | { type: 'done'; ending: Ending; spent: boolean }
