import { setTimeout as realSleep } from 'node:timers/promises'

const WINDOW_MS = 60_000
const LIMIT = 5

/** Something that runs and may end by itself. */
export interface Supervised {
  exited: Promise<void>
}

interface Supervision<T extends Supervised> {
  name: string
  first: T
  /** Starts the next one; a rejection counts as another crash. */
  restart(): Promise<T>
  log(message: string): void
  /** Aborted when the service is to stop. */
  signal: AbortSignal
  sleep?: (ms: number) => Promise<void>
}

/**
 * Starts a thing again whenever it ends, a little later each time.
 * @returns a sentence when it ended too often to go on; nothing when the service stops
 */
export async function supervise<T extends Supervised>(of: Supervision<T>): Promise<string | undefined> {
  const { sleep = realSleep } = of
  const crashes: number[] = []
  let current: T | undefined = of.first
  const stopping = new Promise<void>((done) => {
    if (of.signal.aborted) done()
    of.signal.addEventListener('abort', () => done(), { once: true })
  })
  while (!of.signal.aborted) {
    if (current) await Promise.race([current.exited, stopping])
    if (of.signal.aborted) return undefined
    const now = Date.now()
    crashes.push(now)
    const recent = crashes.filter((at) => now - at < WINDOW_MS).length
    if (recent >= LIMIT) return `The ${of.name} ended ${recent} times within a minute; see the output above.`
    // At once after the first crash in a while: work that was under way waits for it.
    const delay = recent === 1 ? 0 : 1_000 * 2 ** (recent - 2)
    of.log(`the ${of.name} ended; starting it again${delay ? ` in ${delay / 1_000} s` : ''}`)
    await Promise.race([sleep(delay), stopping])
    if (of.signal.aborted) return undefined
    current = await of.restart().catch((error: unknown) => {
      of.log(`the ${of.name} did not start: ${error instanceof Error ? error.message : String(error)}`)
      return undefined
    })
  }
  return undefined
}
