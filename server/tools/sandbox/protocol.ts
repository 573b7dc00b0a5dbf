export interface LogLine {
  level: 'debug' | 'log' | 'info' | 'warn' | 'error'
  text: string
  /** Set on the last line when the script wrote more than is kept. */
  truncated?: true
}

export type FailureCode = 'EXECUTION_ERROR' | 'TIMEOUT' | 'OUTPUT_INVALID'

/** What the host sends to a worker: one script at a time. */
export interface WorkerRequest {
  code: string
  /** JSON text of `[args, dataContext, context]`. */
  input: string
  timeoutMs: number
  memoryMb: number
  maxOutputBytes: number
}

/** How a script ended. The value stays JSON text until it is out of the worker. */
export type Ending = { ok: true; json: string } | { ok: false; code: FailureCode; message: string; details: string[] }

/** What a worker sends to the host. Lines come one by one, so those of a killed script are kept. */
export type WorkerMessage =
  /** The compiled engine comes along, for the workers started later. */
  | { type: 'ready'; engine: WebAssembly.Module }
  | { type: 'log'; line: LogLine }
  /** `spent`: end this worker, its memory or its engine is not to be trusted again. */
  | { type: 'done'; ending: Ending; spent: boolean }
