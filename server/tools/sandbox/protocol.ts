export interface LogLine {
  level: 'debug' | 'log' | 'info' | 'warn' | 'error'
  text: string
  /** Set on the last line when the script wrote more than is kept. */
  truncated?: true
}

export type FetchFailureCode = 'BLOCKED_HOST' | 'CONNECTION_ERROR' | 'TIMEOUT' | 'HTTP_ERROR' | 'OUTPUT_INVALID'
export type FailureCode = 'EXECUTION_ERROR' | FetchFailureCode

/** What the host sends to a worker. */
export type HostMessage =
  /** One script at a time. */
  { type: 'run'; request: WorkerRequest } | { type: 'fetched'; id: number; reply: FetchReply }

export interface WorkerRequest {
  code: string
  /** JSON text of `[args, dataContext, context]`. */
  input: string
  timeoutMs: number
  memoryMb: number
  maxOutputBytes: number
  /** How often the script may call `fetch`; with 0 there is none. */
  maxFetches: number
}

/** A call that a script wants made: only texts, of bounded size, and otherwise as the script wrote it. */
export interface FetchCall {
  url: string
  method: string
  headers: [string, string][]
  body: string | null
}

export type FetchReply =
  | { status: number; headers: [string, string][]; body: string }
  | { failure: { code: FailureCode; message: string; transient: boolean } }

/** How a script ended. The value stays JSON text until it is out of the worker. */
export type Ending =
  | { ok: true; json: string }
  /** `transient`: a call of the script failed, and the same call may work later. */
  | { ok: false; code: FailureCode; message: string; details: string[]; transient?: boolean }

/** What a worker sends to the host. Log lines come one by one, so a killed script keeps what it had written. */
export type WorkerMessage =
  /** With the compiled engine, for the workers started later. */
  | { type: 'ready'; engine: WebAssembly.Module }
  /** The script begins now, and so does its time. */
  | { type: 'began' }
  | { type: 'log'; line: LogLine }
  | { type: 'fetch'; id: number; call: FetchCall }
  /** The script can only wait; `seen` is how many replies it has had so far. */
  | { type: 'waits'; seen: number }
  /** `spent`: end this worker; its memory or its engine cannot be trusted again. */
  | { type: 'done'; ending: Ending; spent: boolean }
