import pino from 'pino'
import { env } from './env'

export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Log
}

let root: Log | undefined

/** The process's log: one JSON object per line. Never log inputs, outputs, keys or tokens. */
export function log(): Log {
  root ??= pino({
    level: env().LOG_LEVEL,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: safeError },
  })
  return root
}

/** Drops the extra fields of an error: database errors hold parameters, request errors hold bodies. */
function safeError(err: unknown): object {
  if (!(err instanceof Error)) return { message: String(err) }
  const { name, message, stack } = err
  const code = 'code' in err && typeof err.code === 'string' ? { code: err.code } : {}
  const cause = err.cause instanceof Error ? { cause: { name: err.cause.name, message: err.cause.message } } : {}
  return { name, message, stack, ...code, ...cause }
}
