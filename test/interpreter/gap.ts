import { setTimeout as sleep } from 'node:timers/promises'
import type { NativeHandler } from '@/inngest/engine/index'
import { currentTransport } from '../support/event-transport'

/**
 * Sends the runs of this process through the SDK, like runs that a process lost, and all runs on a real Inngest server:
 * the engine gets events, and an engine run waits at each pause.
 * @returns a function that ends this
 */
export async function throughTheSdk(): Promise<() => void> {
  const serve = await import('@/inngest/serve')
  const { bindTransport } = await import('@/server/outbox')
  const handlers: Map<string, NativeHandler> = serve.handlers as never
  const transport = currentTransport()
  const own = [...handlers]
  handlers.clear()
  bindTransport({ kick: transport.kick })
  return () => {
    for (const [name, handler] of own) handlers.set(name, handler)
    bindTransport(transport)
  }
}

/** Runs a test with the engine's own driver, and again through the SDK. */
export async function bothWays(test: () => Promise<void>): Promise<void> {
  await test()
  const restore = await throughTheSdk()
  try {
    await test()
  } finally {
    restore()
  }
}

/** A walk held after one step was recorded and the next was committed as begun, before that one's effect begins. */
export interface Gap {
  /** Settles when a walk is held. */
  reached: Promise<void>
  /** Lets the walk continue. */
  release(): void
  /** Settles when the walk has continued and reported the end of the next step to the engine. */
  left: Promise<void>
}

type Step = (id: string, work: () => Promise<unknown>) => Promise<unknown>

/** Inserts work between the steps of this process's walks. @returns a function that ends this */
async function between(wrap: (run: Step, runId: string) => Step): Promise<() => void> {
  // Not before the environment is set.
  const serve = await import('@/inngest/serve')
  const handlers: Map<string, NativeHandler> = serve.handlers as never
  const [[name, original] = []] = handlers
  if (!name || !original) throw new Error('There is no handler of walks.')
  const wrapped: NativeHandler = (call) => {
    const run = wrap(call.step.run as Step, call.runId)
    return original({
      ...call,
      step: new Proxy(call.step, { get: (step, key) => (key === 'run' ? run : Reflect.get(step, key)) }),
    })
  }
  handlers.set(name, wrapped)
  return () => handlers.set(name, original)
}

/** Holds the next walk of this process that has recorded the first visit of a step. */
export async function holdAfter(stepId: string): Promise<Gap> {
  const reached = signal()
  const released = signal()
  const left = signal()
  let held: string | null = null
  const end = await between((run, runId) => async (id, work) => {
    const after = held === runId
    const result = await run(id, async () => {
      try {
        return await work()
      } finally {
        if (after) left.resolve()
      }
    })
    if (held === null && id === `${stepId}#1`) {
      held = runId
      end()
      reached.resolve()
      await released.promise
    }
    return result
  })
  return { reached: reached.promise, release: released.resolve, left: left.promise }
}

/**
 * Delays each step of this process by up to `ms` after the one before, as under load.
 * @returns a function that ends this
 */
export function slowSteps(ms: number): Promise<() => void> {
  return between((run) => async (id, work) => {
    const result = await run(id, work)
    await sleep(Math.random() * ms)
    return result
  })
}

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
