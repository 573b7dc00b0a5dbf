import { afterAll, vi } from 'vitest'

// Lets each file start as if in its own process, although it shares one with other files: the same environment, and an
// empty process registry, which holds the product's process-wide state. Modules stay loaded, because loading them takes
// longer than most files.

const BEGAN: unique symbol = Symbol.for('fresh-file.began')
const STATE = /^(millrace|engine)\./
const SIGNALS = ['SIGTERM', 'SIGINT', 'exit', 'message', 'uncaughtException', 'unhandledRejection']

interface Left {
  'millrace.runtime'?: { stop(graceMs: number): Promise<void> }
  'millrace.script-pool'?: { pool?: { stop(): Promise<void> } }
  'millrace.db'?: { pools: Map<string, { close(): Promise<void> }> }
}
type Holder = Record<symbol, unknown> & { [BEGAN]?: () => void }
const holder = globalThis as unknown as Holder

/** Restores the process's state from before its first file. */
holder[BEGAN] ??= remember()
const restore = holder[BEGAN]

// Registered before the file's own hooks, and so called after them.
afterAll(async () => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  const keys = Object.getOwnPropertySymbols(globalThis).filter((key) => STATE.test(key.description ?? ''))
  const left: Left = Object.fromEntries(keys.map((key) => [key.description, holder[key]]))
  try {
    await left['millrace.runtime']?.stop(0)
    await left['millrace.script-pool']?.pool?.stop()
    for (const pool of left['millrace.db']?.pools.values() ?? []) await pool.close()
  } finally {
    // A file that could not end its work fails alone.
    for (const key of keys) delete holder[key]
    restore()
  }
})

function remember(): () => void {
  const env = { ...process.env }
  readAnewWhenChanged()
  const folder = process.cwd()
  const listeners = new Map(SIGNALS.map((name) => [name, process.rawListeners(name)]))
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
    Object.assign(process.env, env)
    process.chdir(folder)
    for (const [name, before] of listeners) {
      for (const listener of process.rawListeners(name)) {
        if (!before.includes(listener)) process.removeListener(name, listener as (...args: unknown[]) => void)
      }
    }
  }
}

/**
 * The product reads its environment once. A call still in flight from the file before may do so while this file sets it,
 * so each change makes the product read it again.
 */
function readAnewWhenChanged(): void {
  const forget = (done: boolean) => {
    delete holder[Symbol.for('millrace.env')]
    return done
  }
  process.env = new Proxy(process.env, {
    set: (variables, name, value) => forget(Reflect.set(variables, name, value)),
    deleteProperty: (variables, name) => forget(Reflect.deleteProperty(variables, name)),
  })
}
