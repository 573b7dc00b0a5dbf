import type { TestProject } from 'vitest/node'
import { startTestServer, type TestServer } from './postgres'

declare module 'vitest' {
  interface ProvidedContext {
    testServer: TestServer
  }
}

// Vitest runs this once per project that names it, in one process: the first call starts the server, the last stops it.
const KEY: unique symbol = Symbol.for('millrace.test.server')
const shared = globalThis as { [KEY]?: { server: ReturnType<typeof startTestServer>; users: number } }

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const held = shared[KEY] ?? { server: startTestServer(), users: 0 }
  shared[KEY] = held
  held.users += 1
  const { adminUrl, template, stop } = await held.server
  project.provide('testServer', { adminUrl, template })
  return async () => {
    held.users -= 1
    if (held.users > 0) return
    delete shared[KEY]
    await stop()
  }
}
