import { createNetwork } from '@/lib/network'

const ONCE_MS = 10_000

/** The browser's network. The server never waits for it: there, code is always at hand. */
export const network = createNetwork({
  reachable,
  after: (ms, then) => {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
})

if (typeof window !== 'undefined') window.addEventListener('online', network.tryAgain)

/** Any answer will do. Browsers only know whether they have a network, not whether it leads here. */
async function reachable(): Promise<boolean> {
  try {
    await fetch('/icon.svg', { method: 'HEAD', cache: 'no-store' })
    return true
  } catch {
    return false
  }
}

/** Retries waiting loads and, if the service answers again, wakes the router and the queries, which wait by themselves. */
export async function tryAgain(): Promise<void> {
  network.tryAgain()
  if (await reachable()) window.dispatchEvent(new Event('online'))
}

/** Whether code or data of a screen could not be loaded, rather than that it failed. */
export function isNetworkError(error: Error): boolean {
  if (error.name === 'ChunkLoadError') return true
  return error instanceof TypeError && /fetch|network|load failed/i.test(error.message)
}

let recoveredAt = Number.NEGATIVE_INFINITY

/**
 * Waits until the service answers.
 * @returns false if a screen recovered a moment ago, so that one whose code is gone does not retry forever
 */
export async function mayRecover(): Promise<boolean> {
  await network.load(async () => {
    if (!(await reachable())) throw new Error('The service cannot be reached.')
  })
  if (performance.now() - recoveredAt < ONCE_MS) return false
  recoveredAt = performance.now()
  return true
}
