import pino from 'pino'
import { processWide } from '@/db/process-wide'
import { env } from './env'

export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Log
}

/** The process's log: one JSON object per line. Never log inputs, outputs, keys or tokens. */
export function log(): Log {
  return processWide<Log>('log', () =>
    pino({
      level: env().LOG_LEVEL,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      // The engine names it `error`, and it may be a text.
      serializers: {
        err: safeError,
        error: (value: unknown) => (typeof value === 'string' ? value : safeError(value)),
      },
    }),
  )
}

/**
 * Drops the extra fields of an error: request errors contain bodies. The message is safe to log, because
 * `db/error-values.ts` removes the values of failed statements from it.
 */
function safeError(err: unknown): object {
  if (!(err instanceof Error)) return { message: String(err) }
  const { name, message, stack, cause } = err
  return { name, message, stack, ...placeOf(err), ...(cause instanceof Error ? { cause: causeOf(cause) } : {}) }
}

function causeOf(cause: Error): object {
  return { name: cause.name, message: cause.message, ...placeOf(cause) }
}

/** The names that identify a Postgres error. */
function placeOf(err: Error): object {
  const names = Object.entries({ code: 'code', constraint: 'constraint_name', table: 'table_name' })
  const known = names.map(([shown, name]) => [shown, Reflect.get(err, name)] as const)
  return Object.fromEntries(known.filter(([, value]) => typeof value === 'string'))
}
