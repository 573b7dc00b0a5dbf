/**
 * Work that can be interrupted wherever it yields: long enough for nobody to notice, by `inSlices` of the server. A `yield`
 * gives the milliseconds that the work took so far, for work that ends with a part of its result when time is up.
 */
export type Sliced<T> = Generator<void, T, number>

/** Does it without interruption, where nothing else waits. */
export function atOnce<T>(work: Sliced<T>): T {
  const began = performance.now()
  for (;;) {
    const { done, value } = work.next(performance.now() - began)
    if (done) return value
  }
}
