import { reasonOf } from './db/wait'
import { env } from './server/env'

/** Where `cli/web.mjs` leaves the callbacks for the start's result. */
export const BOOT = Symbol.for('millrace.boot')

/**
 * Reads the settings before any module that needs them is loaded. Next caches a module's failure to load, and would
 * answer 500 as long as the process runs. The web process of `cli/web.mjs` ends by itself.
 */
export function requireSettings(): void {
  try {
    env()
  } catch (err) {
    if (BOOT in globalThis) throw err
    couldNotStart(reasonOf(err))
  }
}

/** Ends a process that cannot serve, so that its starter sees why, or starts another one. */
export function couldNotStart(reason: string): never {
  process.stderr.write(`The service could not start: ${reason.replace(/\.$/, '')}.\n`)
  process.exit(1)
}
