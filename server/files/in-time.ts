const TIMEOUT_MS = 30_000
/** A slow connection to a storage. */
const BYTES_PER_MS = 1_000

/**
 * For calls of a storage, whose client may try again for many minutes and ignore the signal while it waits between
 * attempts.
 * @param bytes how many the call sends
 */
export async function inTime<T>(work: (signal: AbortSignal) => Promise<T>, bytes = 0): Promise<T> {
  const ms = TIMEOUT_MS + bytes / BYTES_PER_MS
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${ms} ms`))
      controller.abort()
    }, ms)
  })
  try {
    return await Promise.race([work(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}
