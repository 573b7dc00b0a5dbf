/**
 * Reads that are requested in the same turn of the event loop under the same key become one read. It is sent after all
 * of them were requested, so it never returns less than a separate read would. Its result is shared and must not be
 * changed.
 * @param reads those not sent yet
 */
export function coalesceReads<T>(reads: Map<string, Promise<T>>, key: string, read: () => PromiseLike<T>): Promise<T> {
  const known = reads.get(key)
  if (known) return known
  const sent = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    reads.delete(key)
    return read()
  })
  reads.set(key, sent)
  return sent
}
