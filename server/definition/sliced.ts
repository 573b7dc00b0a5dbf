/**
 * Work that can be interrupted at each yield by `inSlices` of the server, so that nothing else waits noticeably. A
 * `yield` returns the milliseconds that the work took so far, for work that ends with a partial result at its time
 * limit.
 */
export type Sliced<T> = Generator<void, T, number>

/** Runs it without interruption, where nothing else waits. */
export function atOnce<T>(work: Sliced<T>): T {
  const began = performance.now()
  for (;;) {
    const { done, value } = work.next(performance.now() - began)
    if (done) return value
  }
}
