import { setTimeout as sleep } from 'node:timers/promises'

const ENGINE_FETCH = Symbol.for('millrace.engine.fetch')
type Holder = typeof globalThis & { [ENGINE_FETCH]?: typeof fetch }

/** A walk held where one step is recorded and the next is committed as begun, but its effect has not begun. */
export interface Gap {
  /** Settles when a walk is there. */
  reached: Promise<void>
  /** Lets the walk go on. */
  release(): void
  /** Settles when the walk, having gone on, has told the engine how the next step ended. */
  left: Promise<void>
}

/**
 * Holds the next walk of this process that has recorded the first visit of a step: keeps back the engine's answer to the
 * checkpoint. Call it after the runtime has started.
 */
export function holdAfter(stepId: string): Gap {
  const holder = globalThis as Holder
  const original = holder[ENGINE_FETCH]
  if (!original) throw new Error('The runtime has not started.')
  const reached = signal()
  const released = signal()
  const left = signal()
  let held: string | null = null
  holder[ENGINE_FETCH] = async (input, init) => {
    const run = /checkpoint\/([^/]+)\//.exec(String(input))?.[1]
    if (run && run === held) {
      holder[ENGINE_FETCH] = original
      left.resolve()
    }
    const answer = await original(input, init)
    if (run && held === null && String(init?.body).includes(`"${stepId}#1"`)) {
      held = run
      reached.resolve()
      await released.promise
    }
    return answer
  }
  return { reached: reached.promise, release: released.resolve, left: left.promise }
}

/** Makes each checkpoint of this process take up to `ms` longer, as under load. @returns a function that ends this */
export function slowCheckpoints(ms: number): () => void {
  const holder = globalThis as Holder
  const original = holder[ENGINE_FETCH]
  if (!original) throw new Error('The runtime has not started.')
  holder[ENGINE_FETCH] = async (input, init) => {
    const answer = await original(input, init)
    if (String(input).includes('/checkpoint/')) await sleep(Math.random() * ms)
    return answer
  }
  return () => {
    holder[ENGINE_FETCH] = original
  }
}

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
