import { reasonOf } from '@/db/wait'
import { type Runtime, startRuntime } from '@/instrumentation-node'
import { env } from '@/server/env'
import { GRACE_MS, surviveLostOutput, WEB_STOP_MS } from './common.mjs'
import type { WebMessage } from './web-process'

// The process that executes runs and serves no requests. It reads TypeScript directly, so it needs no build.

let starting: Promise<Runtime> | undefined
let leaving = false

/** Lets steps in progress finish within the grace period, gives up the rest, and exits. */
async function leave(): Promise<void> {
  if (leaving) return
  leaving = true
  // Even if something hangs.
  setTimeout(() => process.exit(1), WEB_STOP_MS).unref()
  const runtime = await starting?.catch(() => undefined)
  await runtime?.stop(GRACE_MS).catch(() => undefined)
  process.exit(0)
}

function tell(message: WebMessage): void {
  if (process.connected) process.send?.(message)
}

async function main(): Promise<void> {
  surviveLostOutput()
  process.on('SIGTERM', leave)
  process.on('SIGINT', leave)
  // The launcher died: stop as if it had asked.
  process.on('disconnect', leave)
  try {
    starting = startRuntime()
    await starting
    const { WORKER_PORT, HOST } = env()
    if (WORKER_PORT !== undefined) {
      const { listenForProbes } = await import('./worker-listener')
      await listenForProbes(Number(WORKER_PORT), HOST)
    }
    if (!leaving) tell({ type: 'ready' })
  } catch (error) {
    const message = `The worker could not start: ${reasonOf(error).replace(/\.$/, '')}.`
    if (!process.connected) process.stderr.write(`${message}\n`)
    tell({ type: 'failed', code: undefined, message })
    process.exitCode = 1
    setTimeout(() => process.exit(1), 100) // allows time to send the message
  }
}

void main()
