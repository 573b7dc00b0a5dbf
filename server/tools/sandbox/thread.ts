import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { HostMessage, WorkerMessage } from './protocol'

export interface Thread {
  post(message: HostMessage): void
  terminate(): Promise<unknown>
}

/** A thread that has nothing of the service: no variables, no loaders, no streams. */
export const BARE: WorkerOptions = { env: {}, execArgv: [], argv: [], stdin: false, stdout: true, stderr: true }

/** @param engine compiled by another worker; without it this worker compiles it and sends it back */
export function startThread(
  engine: WebAssembly.Module | undefined,
  on: { hear: (message: WorkerMessage) => void; ended: (error: NodeJS.ErrnoException) => void },
): Thread {
  const thread = new Worker(new URL('./worker.mjs', import.meta.url), {
    name: 'script-sandbox',
    ...BARE,
    workerData: { engine },
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  })
  thread.on('message', on.hear)
  thread.on('error', on.ended)
  thread.on('exit', () => on.ended(new Error('the thread ended')))
  // A script's timer keeps the process alive, a worker does not. Call unref last, because adding a listener refs it
  // again.
  thread.unref()
  return { post: (message) => thread.postMessage(message), terminate: () => thread.terminate() }
}
