const ENV = Symbol.for('millrace.env')

type Holder = { [ENV]?: unknown }

/**
 * Sets environment variables for a test file, before anything from `server` reads them. A call still in flight from the
 * previous file may have read the environment, which is read once, so it is read anew.
 */
export function setEnv(settings: Record<string, string>): void {
  Object.assign(process.env, settings)
  delete (globalThis as Holder)[ENV]
}
